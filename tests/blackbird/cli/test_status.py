"""`blackbird status`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import RUNNING, listening, scripted


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def running(**changes: Any) -> Any:
    return lambda _: json.dumps({**RUNNING, **changes}).encode() + b"\n"


def test_no_recorder_is_exit_code_1(here: Place) -> None:
    done = here.run("status")
    assert (done.code, done.err) == (1, "")
    assert done.out == (
        "! No recorder runs: nothing is being recorded\n"
        f"  trace      0 B in {here.home.trace}\n"
        "  next       blackbird run -- AGENT runs an agent, recorded; blackbird up starts the recorder alone\n"
    )


def test_what_a_recorder_is_doing(here: Place) -> None:
    here.home.trace.mkdir()
    (here.home.trace / "00000001.wal").write_bytes(b"x" * 2048)
    with listening(here.home.control_socket, scripted()[0]):
        done = here.run("status")
    assert done.code == 0
    lines = done.out.splitlines()
    since = lines.pop(2)
    assert since.startswith("  since      2026-11-16T10:00:00Z (")
    assert lines == [
        "✓ Recording on http://127.0.0.1:4141",
        "  process    4002, supervised by 4001",
        "  mode       full",
        "  redaction  2026.11.3",
        "  requests   12, 1 under way",
        "  records    42, safe on disk up to 40",
        "  waiting    0 B",
        f"  trace      2.0 KiB in {here.home.trace}",
    ]


def test_what_was_lost_comes_first(here: Place) -> None:
    lost = running(lost_records=3, lost_bytes=4096, last_error="no space left", restarts=2)
    with listening(here.home.control_socket, lost):
        done = here.run("status")
    assert done.out.startswith("✗ 3 records (4.0 KiB) could not be written and are lost: no space left\n")
    assert "  process    4002, supervised by 4001, restarted 2 times\n" in done.out
    assert "  trouble    no space left\n" in done.out


def test_what_was_left_out_is_told(here: Place) -> None:
    with listening(here.home.control_socket, running(dropped_chunks=2, dropped_bytes=3072)):
        done = here.run("status")
    assert done.out.startswith("! 3.0 KiB of bodies were left out: the queue was full (proxy.lossless)\n✓ Recording")


def test_json(here: Place) -> None:
    with listening(here.home.control_socket, scripted()[0]):
        done = here.run("status", "--json")
    said = {key: value for key, value in RUNNING.items() if key != "ok"}
    about = {"running": True, "home": str(here.home.path), "trace_bytes": 0}
    assert done.json == {"schema": "status/1", **about, **said, "interrupted_requests": 0}


def test_json_without_a_recorder(here: Place) -> None:
    done = here.run("status", "--json")
    assert done.code == 1
    about = {"running": False, "home": str(here.home.path), "trace_bytes": 0}
    assert done.json == {"schema": "status/1", **about, "interrupted_requests": 0}
