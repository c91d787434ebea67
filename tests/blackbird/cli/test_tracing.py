"""`blackbird trace verify`, `status` and `export`."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import RUNNING, listening
from tests.blackbird.trace.encoder import Tracer, encode_synced


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def recorded(here: Place) -> Tracer:
    tracer = Tracer()
    for number in (1, 2, 3):
        if number > 1:
            tracer.rotate()
        tracer.exchange(number, start={"session": f"s{number}"})
        tracer.checkpoint("rotation")
    tracer.save(here.home.trace, sealed=(1,))
    (here.home.trace / "synced").write_bytes(encode_synced(3, 21, 1))
    return tracer


def answer_status(_: dict[str, Any]) -> bytes:
    return json.dumps(RUNNING).encode() + b"\n"


@pytest.mark.requirement("TRACE-14")
def test_verify_a_whole_trace(here: Place) -> None:
    recorded(here)
    done = here.run("trace", "verify")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("  segments   3 (1 sealed), 0 removed; ")
    assert lines[1:] == [
        "  records    21; requests 3",
        "  sequences  up to 21; synced up to 21",
        "  policies   2026.11.3",
        "✓ The trace is whole.",
    ]


@pytest.mark.requirement("TRACE-14")
def test_verify_a_trace_with_a_missing_segment(here: Place) -> None:
    recorded(here)
    (here.home.trace / "00000002.wal").unlink()
    done = here.run("trace", "verify")
    assert done.code == 4
    assert done.out.startswith(
        "✗ missing-segment (segment 2): segment 2 is missing\n    restore the file from a backup;"
    )
    assert "✗ missing-sequences (segment 3, byte " in done.out
    assert done.out.endswith("✗ The trace is not what was recorded: 2 error(s).\n")


def test_verify_as_json(here: Place) -> None:
    recorded(here)
    (here.home.trace / "00000002.wal").unlink()
    done = here.run("trace", "verify", "--json")
    assert done.code == 4
    found = done.json
    assert (found["schema"], found["intact"], found["trace"]) == ("trace-verify/1", False, str(here.home.trace))
    assert set(found["findings"][0]) == {"code", "severity", "message", "segment", "offset", "end", "remedy"}
    assert [(one["code"], one["severity"], one["segment"]) for one in found["findings"]] == [
        ("missing-segment", "error", 2),
        ("missing-sequences", "error", 3),
    ]
    assert found["statistics"]["synced_sequence"] == found["statistics"]["last_sequence"] == 21


def test_the_segment_being_written_may_end_in_the_middle_of_a_record(here: Place) -> None:
    tracer = recorded(here)
    tracer.current.torn = b"half"
    tracer.save(here.home.trace, sealed=(1,))
    with listening(here.home.control_socket, answer_status):
        live = here.run("trace", "verify", "--json").json
    assert [(one["code"], one["severity"]) for one in live["findings"]] == [("torn-tail", "info")]
    done = here.run("trace", "verify")
    assert done.code == 0
    assert "! torn-tail (segment 3, byte " in done.out


def test_verify_what_is_not_there(here: Place) -> None:
    done = here.run("trace", "verify")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Nothing is recorded yet.")
    assert here.run("trace", "verify", "--json").json["statistics"]["segments"] == 0


def test_a_trace_that_is_no_folder_cannot_be_read(here: Place) -> None:
    here.home.trace.touch()
    done = here.run("trace", "verify")
    assert (done.code, done.out) == (3, "")
    assert "Not a directory" in done.err


def test_status(here: Place) -> None:
    recorded(here)
    with listening(here.home.control_socket, answer_status):
        done = here.run("trace", "status")
    assert (done.code, done.err) == (0, "")
    rows = dict(line.strip().split(maxsplit=1) for line in done.out.splitlines())
    assert rows["segments"] == "3 (1 sealed), 0 removed"
    assert (rows["from"], rows["to"]) == ("2026-11-16T12:00:00.000000Z", "2026-11-16T12:00:00.021000Z")
    assert (rows["pins"], rows["recorder"]) == ("none", "running")


def test_status_as_json(here: Place) -> None:
    tracer = recorded(here)
    found = here.run("trace", "status", "--json").json
    assert (found["schema"], found["running"], found["trace"]) == ("trace-status/1", False, str(here.home.trace))
    assert found["sealed_raw_bytes"] == len(tracer.segments[0].wal)
    assert found["ratio"] == round(found["sealed_raw_bytes"] / found["sealed_bytes"], 1)
    assert set(found) == {
        *("schema", "trace", "running", "ratio", "segments", "sealed", "gone", "written_bytes", "sealed_bytes"),
        *("sealed_raw_bytes", "oldest", "newest", "pins", "free_bytes", "unreadable"),
    }


def test_status_of_nothing(here: Place) -> None:
    assert here.run("trace", "status").out.startswith("Nothing is recorded yet.")


def test_status_tells_what_cannot_be_read(here: Place) -> None:
    recorded(here)
    (here.home.trace / "00000002.wal").write_bytes(b"broken")
    done = here.run("trace", "status")
    assert done.code == 0
    assert "00000002.wal: a header has at least 150 bytes, here are 6 (byte 6)" in done.out


def exported(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_export_everything(here: Place, tmp_path: Path) -> None:
    recorded(here)
    done = here.run("trace", "export", "--output", "all.jsonl")
    assert (done.code, done.out, done.err) == (0, "", "✓ 21 records written to all.jsonl\n")
    path = tmp_path / "all.jsonl"
    assert [line["sequence"] for line in exported(path)] == list(range(1, 22))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "sequences"),
    [
        (("--session", "s2"), list(range(8, 14))),
        (("--run", "run_01JD4Q0000000000000000000A"), [*range(1, 7), *range(8, 14), *range(15, 21)]),
        (("--request", "01000000000000000000000003"), list(range(15, 21))),
        (("--session", "none"), []),
    ],
    ids=["session", "run", "request", "nothing"],
)
def test_export_a_part(here: Place, arguments: tuple[str, ...], sequences: list[int]) -> None:
    recorded(here)
    done = here.run("trace", "export", "--output", "-", *arguments)
    assert (done.code, done.err) == (0, "")
    assert [json.loads(line)["sequence"] for line in done.out.splitlines()] == sequences


def test_export_overwrites_nothing(here: Place, tmp_path: Path) -> None:
    recorded(here)
    (tmp_path / "mine.jsonl").write_text("mine")
    done = here.run("trace", "export", "--output", "mine.jsonl")
    assert (done.code, (tmp_path / "mine.jsonl").read_text()) == (2, "mine")
    assert "mine.jsonl is there already" in done.err


def test_export_into_no_folder(here: Place) -> None:
    recorded(here)
    done = here.run("trace", "export", "--output", "none/all.jsonl")
    assert (done.code, done.out) == (3, "")
    assert "no such folder" in done.err


def test_export_of_a_damaged_trace_writes_the_rest_and_says_so(here: Place, tmp_path: Path) -> None:
    recorded(here)
    (here.home.trace / "00000002.wal").write_bytes(b"broken")
    done = here.run("trace", "export", "--output", "rest.jsonl")
    assert done.code == 4
    assert "00000002.wal" in done.err
    assert [line["segment"] for line in exported(tmp_path / "rest.jsonl")] == [1] * 7 + [3] * 7


@pytest.mark.parametrize("arguments", [(), ("--session", "s2")])
def test_export_says_what_is_corrupt(here: Place, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    recorded(here)
    damaged = here.home.trace / "00000002.wal"
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    done = here.run("trace", "export", *arguments, "--output", str(tmp_path / "out.jsonl"))
    assert done.code == 4
    assert "00000002.wal: " in done.err
    assert "bytes are corrupt and left out" in done.err


def test_export_of_two_things_at_once(here: Place) -> None:
    assert here.run("trace", "export", "--output", "-", "--run", "a", "--session", "b").code == 2


def test_export_of_an_unknown_request(here: Place, tmp_path: Path) -> None:
    recorded(here)
    done = here.run("trace", "export", "--output", "x.jsonl", "--request", "7ZZ")
    assert done.code == 1
    assert not (tmp_path / "x.jsonl").exists()
