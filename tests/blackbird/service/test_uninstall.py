"""`blackbird uninstall`: what goes, what stays, and who was asked."""

import io
import sys
from pathlib import Path

import msgspec
import pytest

from blackbird.authority import ca
from blackbird.cli.machine import uninstall
from blackbird.launch.installing import Record
from blackbird.service import unit
from blackbird.service.inventory import COMPLETION_MARK
from tests.blackbird.authority.issued import issue, put
from tests.blackbird.cli.command import Place, place
from tests.blackbird.service.test_systemd import systemctl

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    systemctl(monkeypatch, tmp_path, "exit 1")
    here = place(tmp_path, monkeypatch, capsys)
    home = here.home
    put(home, issue())
    home.recorder_json.write_text("{}", encoding="utf-8")
    home.trace.mkdir()
    (home.trace / "00000001.wal").write_bytes(b"recorded")
    for name in ("hmac.key", "runs.jsonl", "config.toml", "notes.txt"):
        (home.path / name).write_bytes(b"")
    return here


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_ours_goes_and_recordings_stay(here: Place) -> None:
    done = here.run("uninstall", "--yes")
    home = here.home.path
    assert done.code == 0
    assert done.out == (
        f"✓ Removed {home}/run\n"
        f"✓ Removed {home}/ca\n"
        "What stays:\n"
        f"  {home}/trace  the recordings\n"
        f"  {home}/hmac.key  the key that proves what was recorded\n"
        f"  {home}/runs.jsonl  the runs that were registered\n"
        f"  {home}/config.toml  your settings\n"
        f"  {home}/notes.txt  not ours\n"
        "  blackbird uninstall --purge removes the recordings, too\n"
        "  pip uninstall blackbird removes the program itself\n"
    )
    assert names(home) == ["config.toml", "hmac.key", "notes.txt", "runs.jsonl", "trace"]
    assert (home / "trace" / "00000001.wal").read_bytes() == b"recorded"


def test_purge_takes_recordings_and_keys_and_leaves_what_is_not_ours(here: Place) -> None:
    done = here.run("uninstall", "--purge", "--yes", "--json")
    home = here.home.path
    assert done.json == {
        "schema": "uninstall/1",
        "dry_run": False,
        "purge": True,
        "stopped": None,
        "removed": [str(home / name) for name in ("run", "ca", "trace", "hmac.key", "runs.jsonl")],
        "kept": [
            {"path": str(home / "config.toml"), "what": "your settings"},
            {"path": str(home / "notes.txt"), "what": "not ours"},
        ],
        "clients": [],
    }
    assert names(home) == ["config.toml", "notes.txt"]


def test_a_home_with_nothing_left_goes_too(here: Place) -> None:
    for name in ("config.toml", "notes.txt"):
        (here.home.path / name).unlink()
    assert here.run("uninstall", "--purge", "--yes").code == 0
    assert not here.home.path.exists()
    again = here.run("uninstall", "--yes")
    assert (again.code, again.out) == (0, "  pip uninstall blackbird removes the program itself\n")


#: Every kind of file that the product writes into its home, the half-made ones included.
WRITTEN = (
    *("run/recorder.json", "run/recorder.pid", "run/recorder.log", "run/recorder.log.old", "run/supervisor.lock"),
    *("run/control.sock", "run/mcp.token", "run/.mcp.token.0a1b.tmp", "run/agent-run_1.json"),
    *("run/hooks-run_1.json", "run/pack-run_1.md", "run/pack-run_1.json", "run/.pack-run_1.md.0a1b.tmp"),
    *("ca/ca.pem", "ca/ca.key", "ca/bundle-0a1b.pem", "ca/lock", "ca/.ca.pem.tmp"),
    *("clients/codex.json", "clients/.codex.json.0a1b.tmp"),
    *("trace/00000001.wal", "trace/00000001.seal", "trace/00000002.gone", "trace/00000003.part"),
    *("trace/synced", "trace/lock", "hmac.key", "runs.jsonl", "spool.jsonl", "spool.taken.jsonl"),
    *("usage.jsonl", "usage.old.jsonl", "derived/imports.json", "derived/.imports.json.0a1b.tmp"),
    *("derived/imports.lock", "derived/memory.db", "derived/memory-00000001.db", "derived/memory-00000001.db-wal"),
    *("derived/memory-00000001.db-shm", "derived/memory.lock", "derived/.memory.db.tmp"),
    *("derived/packs/0a1b.json", "derived/packs/.0a1b.json.0a1b.tmp"),
)


def test_purge_leaves_nothing_that_the_product_wrote(here: Place) -> None:
    home = here.home.path
    for name in ("config.toml", "notes.txt"):
        (home / name).unlink()
    for name in WRITTEN:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(b"")
    record = Record(client="codex", files=[])
    (home / "clients" / "codex.json").write_bytes(msgspec.json.encode(record))
    planned = here.run("uninstall", "--dry-run", "--purge", "--json").json
    assert planned["kept"] == []
    assert here.run("uninstall", "--purge", "--yes", "--json").json["kept"] == []
    assert not home.exists()


def test_a_dry_run_only_lists(here: Place) -> None:
    before = sorted(here.home.path.rglob("*"))
    done = here.run("uninstall", "--dry-run", "--purge")
    assert done.code == 0
    assert done.out.splitlines()[0] == "Would be removed:"
    assert f"  {here.home.trace}  the recordings" in done.out.split("Would stay:", maxsplit=1)[0]
    assert done.out.splitlines()[-1] == "  Dry run - nothing was removed"
    told = here.run("uninstall", "--dry-run", "--json").json
    assert (told["dry_run"], told["removed"]) == (True, [str(here.home.run), str(ca.folder(here.home))])
    assert next(each["path"] for each in told["kept"]) == str(here.home.trace)
    assert sorted(here.home.path.rglob("*")) == before


@pytest.mark.parametrize("words", [[], ["--json"], ["--purge"]])
def test_where_nobody_can_be_asked_nothing_goes(here: Place, words: list[str]) -> None:
    done = here.run("uninstall", *words)
    assert (done.code, ca.folder(here.home).exists()) == (2, True)
    assert "nobody can be asked here" in done.err


@pytest.mark.parametrize(
    ("words", "typed", "code", "left"),
    [
        ([], "y\n", 0, ["config.toml", "hmac.key", "notes.txt", "runs.jsonl", "trace"]),
        ([], "n\n", 1, None),
        ([], "\n", 1, None),
        (["--purge"], "y\nremove my recordings\n", 0, ["config.toml", "notes.txt"]),
        (["--purge"], "y\nyes\n", 2, None),
    ],
)
def test_a_terminal_is_asked(
    here: Place, monkeypatch: pytest.MonkeyPatch, words: list[str], typed: str, code: int, left: list[str] | None
) -> None:
    monkeypatch.setattr(uninstall, "_is_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    before = names(here.home.path)
    assert here.run("uninstall", *words).code == code
    assert names(here.home.path) == (before if left is None else left)


def test_unit_and_completion_go_if_they_are_ours(here: Place, tmp_path: Path) -> None:
    path = tmp_path / "config" / "systemd" / "user" / unit.NAME
    fish = tmp_path / "config" / "fish" / "completions" / "blackbird.fish"
    zsh = tmp_path / "user" / ".zfunc" / "_blackbird"
    wants = path.parent / "default.target.wants" / unit.NAME
    for file, text in ((path, unit.MARK + "\n"), (fish, COMPLETION_MARK), (zsh, "# mine\n")):
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    wants.parent.mkdir()
    wants.symlink_to(path)
    (tmp_path / "told").unlink(missing_ok=True)
    done = here.run("uninstall", "--yes", "--json")
    assert done.json["removed"][:1] == [str(path)]
    assert str(fish) in done.json["removed"]
    assert (path.exists(), wants.is_symlink(), fish.exists(), zsh.exists()) == (False, False, False, True)
    assert not path.parent.exists()
    assert (tmp_path / "told").read_text("utf-8").splitlines() == [
        f"--user disable --now {unit.NAME}",
        "--user daemon-reload",
    ]


def test_a_unit_of_somebody_else_stays(here: Place, tmp_path: Path) -> None:
    path = tmp_path / "config" / "systemd" / "user" / unit.NAME
    path.parent.mkdir(parents=True)
    path.write_text("[Service]\n", encoding="utf-8")
    assert str(path) not in here.run("uninstall", "--yes", "--json").json["removed"]
    assert path.exists()


def test_what_a_link_leads_to_is_left_alone(here: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "large disk"
    here.home.trace.rename(elsewhere)
    here.home.trace.symlink_to(elsewhere)
    assert here.run("uninstall", "--purge", "--yes").code == 0
    assert not here.home.trace.is_symlink()
    assert names(elsewhere) == ["00000001.wal"]


def test_what_somebody_keeps_in_a_folder_of_ours_stays_and_is_told(here: Place) -> None:
    mine = [here.home.run / "mine", here.home.trace / "notes.txt"]
    for path in mine:
        path.write_text("mine", encoding="utf-8")
    (here.home.run / "sub").mkdir()
    planned = here.run("uninstall", "--purge", "--dry-run", "--json").json
    done = here.run("uninstall", "--purge", "--yes", "--json").json
    assert [path.read_text("utf-8") for path in mine] == ["mine", "mine"]
    assert str(here.home.recorder_json) in done["removed"]
    assert str(here.home.run) not in done["removed"]
    assert not (here.home.trace / "00000001.wal").exists()
    kept = {each["path"] for each in done["kept"]}
    assert {str(path) for path in (*mine, here.home.run / "sub")} <= kept
    assert {each["path"] for each in planned["kept"]} == kept - {str(here.home.run), str(here.home.trace)}


def test_a_client_that_has_nothing_is_told(here: Place) -> None:
    done = here.run("uninstall", "claude", "--yes")
    assert (done.code, ca.folder(here.home).exists()) == (1, True)
    assert done.err.startswith("✗ nothing is installed into Claude Code\n")


def test_settings_of_clients_are_put_back_with_all_else(here: Place, tmp_path: Path) -> None:
    settings = tmp_path / "user" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"theme": "x"}\n', encoding="utf-8")
    assert here.run("install", "gemini", "--yes").code == 0
    assert "blackbird" in settings.read_text(encoding="utf-8")
    done = here.run("uninstall", "--yes")
    assert (done.code, settings.read_text(encoding="utf-8")) == (0, '{"theme": "x"}\n')
    assert done.out.startswith("✓ The entries are out of the settings of Gemini CLI\n")
    assert "clients" not in names(here.home.path)
