"""What is kept of answers: every line of every process, within a bound, and never at the cost of an answer."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from blackbird import usage
from blackbird.home import Home
from blackbird.usage import Use


def a_home(folder: Path) -> Home:
    return Home(folder, folder / "config.toml")


def a_use(at: int = 1, **facts: object) -> Use:
    return Use(**({"at": at, "door": "cli", "op": "search", "ms": 1.5} | facts))  # type: ignore[arg-type]


def test_what_is_noted_is_read_by_time(tmp_path: Path) -> None:
    home = a_home(tmp_path)
    pack = a_use(2, op="context", tokens=812, cached=True, sections={"decisions": 90}, session="s", task="t", run="r")
    for use in (pack, a_use(1, found=3, beyond=True)):
        usage.note(home, use)
    assert usage.read(home) == [a_use(1, found=3, beyond=True), pack]
    assert stat.S_IMODE(home.usage.stat().st_mode) == 0o600


def test_lines_that_are_torn_or_foreign_are_passed_over(tmp_path: Path) -> None:
    home = a_home(tmp_path)
    usage.note(home, a_use(1))
    with home.usage.open("ab") as file:
        file.write(b'\n{"at":2,"door":"c')
    usage.note(home, a_use(3))
    with home.usage.open("ab") as file:
        file.write(b'\n\xff\xfe\n[]\n{"at":"4","door":"cli","op":"get","ms":1}\n')
    usage.note(home, a_use(5, op="none of ours yet"))
    assert [use.at for use in usage.read(home)] == [1, 3, 5]


def test_one_old_part_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "LIMIT_BYTES", 500)
    home = a_home(tmp_path)
    for at in range(105):
        usage.note(home, a_use(at))
    kept = [use.at for use in usage.read(home)]
    assert kept == list(range(kept[0], 105))
    assert 9 < len(kept) < 24
    assert sorted(path.name for path in tmp_path.iterdir()) == ["usage.jsonl", "usage.old.jsonl"]
    assert all(path.stat().st_size < 600 for path in tmp_path.iterdir())


def test_a_home_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    home = a_home(tmp_path / "missing")
    usage.note(home, a_use())
    assert (home.path.exists(), usage.read(home)) == (False, [])
    file = a_home(tmp_path / "file")
    file.path.write_bytes(b"")
    usage.note(file, a_use())
    taken = a_home(tmp_path / "taken")
    taken.usage.mkdir(parents=True)
    usage.note(taken, a_use())
    assert usage.read(taken) == []


def test_a_full_disk_fails_nothing() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")

    class Full(Home):
        @property
        def usage(self) -> Path:
            return full

    usage.note(Full(Path("/dev"), Path("/dev/config.toml")), a_use())


_NOTING = """
import sys
from pathlib import Path
from blackbird import usage
from blackbird.home import Home

usage.LIMIT_BYTES = int(sys.argv[3])
home = Home(Path(sys.argv[1]), Path(sys.argv[1]) / "config.toml")
for at in range(200):
    usage.note(home, usage.Use(at=at, door=sys.argv[2], op="search", ms=1.0))
"""


@pytest.mark.parametrize(("limit", "expected"), [(1 << 20, 800), (20_000, None)])
def test_several_processes_at_once(tmp_path: Path, limit: int, expected: int | None) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _NOTING, str(tmp_path), str(door), str(limit)]) for door in range(4)
    ]
    assert [writer.wait() for writer in writers] == [0] * 4
    uses = usage.read(a_home(tmp_path))
    assert len({(use.door, use.at) for use in uses}) == len(uses)
    if expected is not None:
        assert len(uses) == expected
    else:
        # Whatever fell off, the newest stayed: two parts of 20 kB, of which the newer may have just begun.
        assert {use.door for use in uses} <= {"0", "1", "2", "3"}
        assert len(uses) > 20_000 // 60
