"""What a child is given, and what is left of it."""

from pathlib import Path

from blackbird.home import Home
from blackbird.launch import equipment


def test_what_a_killed_run_left_goes_and_what_others_need_stays(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path / "config.toml")
    equipment.sweep(home, ())
    home.run.mkdir()
    stays = ["pack-run_B.md", "agent-run_B.json", "recorder.json", "pack-notes.md", "mcp.token"]
    for name in ["pack-run_A.md", "pack-run_A.json", "hooks-run_A.json", "agent-run_A.json", *stays]:
        (home.run / name).touch()
    equipment.sweep(home, {"run_B"})
    assert sorted(path.name for path in home.run.iterdir()) == sorted(stays)
