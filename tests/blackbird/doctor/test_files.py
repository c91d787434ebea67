"""Modes, room and clocks: as they are found, and what is said of them."""

import os
import sys
from pathlib import Path

import pytest

from blackbird.authority.problems import Level
from blackbird.doctor.checks import files as file_checks
from blackbird.doctor.checks import trace as trace_checks
from blackbird.doctor.facts import files, logs
from blackbird.doctor.facts.files import Files, Loose
from blackbird.doctor.facts.recorded import Jump, Recorded
from blackbird.doctor.findings import Finding
from blackbird.doctor.native import Client, NativeCall
from blackbird.home import Home
from tests.blackbird.recorder.twin import home_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes are another matter on Windows")

DAY = 86_400 * 1_000_000_000
GIB = 1 << 30


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = home_in(tmp_path / "home")
    home.path.chmod(0o700)
    for name in ("trace/00000001.wal", "hmac.key", "notes.txt"):
        path = home.path / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(b"")
        path.chmod(0o644 if name == "notes.txt" else 0o600)
    return home


def test_files_of_ours_that_others_can_read_are_found(home: Home) -> None:
    assert files.gather(home, token_in_config=False).loose == []
    (home.path / "trace" / "00000001.wal").chmod(0o640)
    (home.path / "trace").chmod(0o750)
    home.config_file.write_text("", encoding="utf-8")
    home.config_file.chmod(0o644)
    assert files.gather(home, token_in_config=False).loose == [
        Loose(str(home.path / "trace"), 0o750, is_folder=True),
        Loose(str(home.path / "trace" / "00000001.wal"), 0o640, is_folder=False),
    ]
    assert files.gather(home, token_in_config=True).loose[-1] == Loose(str(home.config_file), 0o644, is_folder=False)


def test_a_link_counts_for_what_it_is(home: Home, tmp_path: Path) -> None:
    (tmp_path / "open").write_bytes(b"")
    (home.path / "trace" / "link").symlink_to(tmp_path / "open")
    assert files.gather(home, token_in_config=False).loose == []


def test_a_home_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    found = files.gather(Home(tmp_path / "none", tmp_path / "config.toml"), token_in_config=True)
    assert found == Files(str(tmp_path / "none"), exists=False)
    assert [(each.id, each.level, each.remedy) for each in file_checks.check(found)] == [
        ("home", Level.NOTE, "blackbird run -- AGENT")
    ]


def test_open_files_are_told_with_the_command_that_closes_them() -> None:
    one = Files("/h", exists=True, loose=[Loose("/h/my key", 0o644, is_folder=False)])
    assert list(file_checks.check(one)) == [
        Finding(
            "files-open",
            Level.ERROR,
            "others can get at a file or folder of the recordings, keys or settings",
            "/h/my key has mode 0644",
            "chmod 600 '/h/my key'",
        )
    ]
    loose = [Loose("/h", 0o755, is_folder=True), Loose("/h/trace", 0o755, is_folder=True)]
    (found,) = file_checks.check(Files("/h", exists=True, loose=loose))
    assert (found.evidence, found.remedy) == ("/h has mode 0755 and 1 more", "chmod -R go= /h")
    outside = [*loose, Loose("/c/config.toml", 0o644, is_folder=False)]
    (found,) = file_checks.check(Files("/h", exists=True, loose=outside))
    assert found.remedy == "chmod -R go= /h && chmod 600 /c/config.toml"


def test_files_of_another_user_and_folders_that_cannot_be_seen() -> None:
    seen = Files("/h", True, [Loose("/h/trace", 0o700, is_folder=True, is_foreign=True)], unreadable=["/h/x: denied"])
    assert [(each.id, each.level) for each in file_checks.check(seen)] == [
        ("file-unreadable", Level.WARNING),
        ("files-foreign", Level.ERROR),
    ]


@pytest.mark.parametrize(
    ("free", "recent", "name", "level"),
    [
        (100 * GIB, 7 * GIB, "disk", Level.OK),
        (13 * GIB, 7 * GIB, "disk-low", Level.WARNING),
        (14 * GIB, 7 * GIB, "disk", Level.OK),
        (GIB - 1, 0, "disk-low", Level.WARNING),
        (1000, 0, "disk-full", Level.ERROR),
    ],
)
def test_room_is_judged_by_how_fast_the_trace_grows(free: int, recent: int, name: str, level: Level) -> None:
    seen = Recorded(begins_ns=0, recent_bytes=recent, bytes=recent)
    found = next(trace_checks.check(seen, Files("/h", exists=True, free=free), 10 * DAY, 17 * DAY))
    assert (found.id, found.level) == (name, level)


def test_growth_counts_from_the_first_recording_and_a_day_at_least() -> None:
    assert trace_checks.daily_growth(Recorded(begins_ns=15 * DAY, recent_bytes=100), 10 * DAY, 17 * DAY) == 50
    assert trace_checks.daily_growth(Recorded(begins_ns=17 * DAY, recent_bytes=100), 10 * DAY, 17 * DAY) == 100


def test_clock_and_damage_are_told() -> None:
    seen = Recorded(begins_ns=1, jumps=[Jump(DAY, 3600.0), Jump(2 * DAY, -90.0)], unreadable=["00000001.wal: torn"])
    found = list(trace_checks.check(seen, Files("/h", exists=True), 0, 3 * DAY))
    assert [(each.id, each.level) for each in found] == [
        ("clock-jumps", Level.WARNING),
        ("trace-unreadable", Level.ERROR),
    ]
    assert found[0].evidence == "last back by 0:01:30, 1970-01-03T00:00:00.000000Z"
    assert found[1].remedy == "blackbird trace verify"
    well = trace_checks.check(Recorded(begins_ns=1), Files("/h", exists=True), 0, DAY)
    assert [(each.id, each.level) for each in well] == [("clock", Level.OK), ("trace", Level.OK)]


def write_log(path: Path, request: str, time: str, written_ns: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    line = f'{{"type":"assistant","requestId":"{request}","timestamp":"{time}"}}\n'
    path.write_text(line, encoding="utf-8")
    os.utime(path, ns=(written_ns, written_ns))


def test_logs_of_the_time_asked_for_are_read_and_the_oldest_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "config"
    write_log(folder / "projects/p/new.jsonl", "req_new", "1970-01-06T00:00:00Z", 5 * DAY)
    write_log(folder / "projects/p/new/subagents/agent-1.jsonl", "req_sub", "1970-01-05T12:00:00Z", 5 * DAY)
    write_log(folder / "projects/p/resumed.jsonl", "req_new", "1970-01-06T00:00:00Z", 5 * DAY)
    write_log(folder / "projects/p/old.jsonl", "req_old", "1970-01-02T00:00:00Z", DAY)
    write_log(folder / "projects/p/touched.jsonl", "req_early", "1970-01-02T00:00:00Z", 5 * DAY)
    found = logs.gather(Client.CLAUDE, {"CLAUDE_CONFIG_DIR": str(folder)}, tmp_path, 3 * DAY)
    assert (found.files, found.oldest_ns, found.unreadable, found.left_out) == (5, DAY, [], 0)
    assert found.calls == [
        NativeCall(Client.CLAUDE, 4 * DAY + DAY // 2, request="req_sub"),
        NativeCall(Client.CLAUDE, 5 * DAY, request="req_new"),
    ]
    assert logs.gather(Client.CODEX, {}, tmp_path, 0) == logs.Logs(Client.CODEX, tmp_path / ".codex" / "sessions")


def test_too_much_to_read_is_left_out_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_MOST_BYTES", 100)
    for name in ("a", "b"):
        write_log(tmp_path / ".claude" / "projects" / f"{name}.jsonl", name, "1970-01-06T00:00:00Z", 5 * DAY)
    found = logs.gather(Client.CLAUDE, {}, tmp_path, 0)
    assert (len(found.calls), found.left_out) == (1, 1)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root reads everything")
def test_logs_that_may_not_be_read_are_told(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "projects" / "a.jsonl"
    write_log(path, "req", "1970-01-06T00:00:00Z", 5 * DAY)
    path.chmod(0)
    assert logs.gather(Client.CLAUDE, {}, tmp_path, 0).unreadable == [f"{path}: Permission denied"]
