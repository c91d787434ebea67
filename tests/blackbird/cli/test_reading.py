"""`blackbird requests` and `show`: what agents sent and received, request by request."""

import datetime as dt
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from blackbird.cli import app, reading
from blackbird.trace import ids
from blackbird.trace.records import Flag, Kind
from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import RUNNING, listening
from tests.blackbird.trace.encoder import END, MONOTONIC, START, Tracer, identifier

NAMES = [ids.request_name(identifier(number)) for number in (0, 1, 2, 3)]
INSTANCE = ids.from_text(RUNNING["instance"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def recorded(here: Place, *, sealed: tuple[int, ...] = (1,), instance: bytes | None = None) -> Tracer:
    """A complete exchange, one without an end, and one that failed."""
    tracer = Tracer(instance=instance or b"some recorder 16")
    tracer.exchange(1)
    tracer.exchange(
        2, end=False, start={"session": "quay", "task": "t2", "run": "run_q", "target": "/v1/" + "x" * 60}
    )
    tracer.add(Kind.GAP, identifier(2), {"reason": "queue_full", "direction": "response", "bytes": 9, "records": 1})
    tracer.rotate()
    tracer.exchange(3, end=False)
    failure = {"where": "upstream", "code": "upstream_cut", "message": "closed early"}
    tracer.add(Kind.ERROR, identifier(3), END | failure)
    tracer.save(here.home.trace, sealed=sealed)
    return tracer


def answer_status(_: dict[str, Any]) -> bytes:
    return json.dumps(RUNNING).encode() + b"\n"


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.requirement("METRICS-08")
def test_requests_are_a_table(here: Place) -> None:
    recorded(here)
    done = here.run("requests")
    assert (done.code, done.err) == (0, "")
    head, first, second, third = (re.split(r"  +", line) for line in done.out.splitlines())
    assert head == [
        *("time", "id", "session", "request", "upstream", "status"),
        *("sent", "received", "first byte", "total", "state"),
    ]
    assert first == [
        *("2026-11-16 12:00:00", NAMES[1], "harbour", "POST /v1/messages?beta=true", "anthropic", "200"),
        *("28 B", "15 B", "31.0 ms", "812.3 ms", "complete"),
    ]
    assert second[2:5] == ["quay", "POST /v1/" + "x" * 43 + "…", "anthropic"]
    assert second[5:] == ["200", "26 B", "22 B", "-", "-", "interrupted"]
    assert third[-1] == "error (upstream_cut)"


@pytest.mark.requirement("METRICS-08")
def test_requests_as_json(here: Place) -> None:
    recorded(here)
    done = here.run("requests", "--json")
    found = lines(done.out)
    assert [line["request_id"] for line in found] == NAMES[1:]
    assert found[0] == {
        "schema": "request/1",
        "request_id": NAMES[1],
        "session": "harbour",
        "task": "t1",
        "run": "run_01JD4Q0000000000000000000A",
        "attribution": "run",
        "method": "POST",
        "path": "/v1/messages?beta=true",
        "upstream": "anthropic",
        "status": 200,
        "request_bytes": 28,
        "response_bytes": 15,
        "started": "2026-11-16T12:00:00.001000Z",
        "timings": {"connected_us": 210, "request_sent_us": 400, "first_byte_us": 31000, "total_us": 812345},
        "complete": True,
        "state": "complete",
        "error": None,
        "mode": "full",
    }
    assert found[2]["error"] == {"where": "upstream", "code": "upstream_cut", "message": "closed early"}
    assert [line["state"] for line in found] == ["complete", "interrupted", "error"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--session", "quay"), [2]),
        (("--task", "t1"), [1, 3]),
        (("--run", "run_q"), [2]),
        (("--limit", "1"), [3]),
        (("-n", "2"), [2, 3]),
        (("--since", "2026-11-16T12:00:00Z"), [1, 2, 3]),
        (("--since", "2026-11-16T12:00:01Z"), []),
        (("--since", "2020-01-01T00:00:00Z", "--session", "harbour"), [1, 3]),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_some_requests(here: Place, arguments: tuple[str, ...], expected: list[int]) -> None:
    recorded(here)
    found = lines(here.run("requests", "--json", *arguments).out)
    assert [line["request_id"] for line in found] == [NAMES[number] for number in expected]


def test_requests_of_the_last_hours(here: Place) -> None:
    tracer = Tracer()
    tracer.segments.clear()
    now = int(dt.datetime.now(dt.UTC).timestamp()) * 10**9
    tracer.rotate(wall=now - 2 * 3600 * 10**9, monotonic=MONOTONIC)
    tracer.exchange(1)
    tracer.save(here.home.trace)
    assert here.run("requests", "--json", "--since", "1h").out == ""
    assert len(lines(here.run("requests", "--json", "--since", "3h").out)) == 1


@pytest.mark.requirement("RELY-03")
def test_a_request_is_active_only_in_the_recorder_that_runs(here: Place) -> None:
    recorded(here, instance=INSTANCE)
    with listening(here.home.control_socket, answer_status):
        found = lines(here.run("requests", "--json").out)
    assert [line["state"] for line in found] == ["complete", "active", "error"]
    assert lines(here.run("requests", "--json").out)[1]["state"] == "interrupted"


def test_a_recorder_that_talks_nonsense_keeps_nobody_from_reading(here: Place) -> None:
    recorded(here)
    with listening(here.home.control_socket, lambda _: b"what?\n"):
        done = here.run("requests")
    assert done.code == 0
    assert "open requests look interrupted" in done.err
    assert NAMES[1] in done.out


def test_nothing_is_recorded_yet(here: Place) -> None:
    done = here.run("requests")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Nothing is recorded yet.")
    assert here.run("requests", "--json") == (0, "", "")


def test_no_request_is_such_a_one(here: Place) -> None:
    recorded(here)
    assert here.run("requests", "--session", "none") == (0, "No request that was recorded is such a one.\n", "")


@pytest.mark.parametrize("arguments", [("--since", "soon"), ("--session", "a/b"), ("--limit", "0")], ids=" ".join)
def test_what_cannot_be_asked(here: Place, arguments: tuple[str, ...]) -> None:
    done = here.run("requests", *arguments)
    assert (done.code, done.out) == (2, "")
    assert arguments[0] in done.err


def test_a_broken_segment_is_told_beside_the_rest(here: Place) -> None:
    recorded(here)
    (here.home.trace / "00000001.seal").write_bytes(b"broken")
    done = here.run("requests")
    assert done.code == 0
    assert "00000001.seal: it is too short for a seal (byte 6)" in done.err
    assert NAMES[3] in done.out


@pytest.mark.requirement("METRICS-08")
@pytest.mark.parametrize("sealed", [(), (1, 2)], ids=["written", "sealed"])
def test_show_tells_everything(here: Place, sealed: tuple[int, ...]) -> None:
    recorded(here, sealed=sealed)
    assert here.run("show", NAMES[2]) == (
        0,
        f"""{NAMES[2]}
  state      interrupted
  session    quay  task t2  run run_q
  attributed run
  upstream   anthropic  https://api.anthropic.com/v1/messages?beta=true
  started    2026-11-16T12:00:00.007000Z
  timings    first byte -, total -
  request    ? bytes on the wire, 26 recorded, not complete
  response   ? bytes on the wire, 22 recorded, not complete
  trace      segment 1, sequences 7 to 12
! 9 bytes of the response are not recorded: queue_full

> POST /v1/{"x" * 60} HTTP/1.1
> Host: 127.0.0.1:4141
> x-api-key: [redacted:header]

{{
  "model": "gannet-3",
  "n": 2
}}

< HTTP/1.1 200 OK

data: one

data: two

""",
        "",
    )


def test_show_tells_an_error(here: Place) -> None:
    recorded(here)
    done = here.run("show", NAMES[3], "--headers", "--response")
    assert "✗ upstream_cut (upstream): closed early\n" in done.out
    assert "  response   15 bytes on the wire, gzip, 22 recorded, 1 redacted\n" in done.out
    assert done.out.endswith("\n< HTTP/1.1 200 OK\n")
    assert "POST" not in done.out


def test_show_as_json(here: Place) -> None:
    recorded(here)
    found = here.run("show", NAMES[1], "--json").json
    listed = lines(here.run("requests", "--json").out)[0]
    assert {key: found[key] for key in listed} == {**listed, "schema": "exchange/1"}
    assert found["request"]["body"] == {"text": '{"model":"gannet-3","n":1}'}
    assert found["response"]["body"] == {"text": "data: one\n\ndata: two\n\n"}
    assert found["response"]["chunks"] == [{"at_us": 3000, "bytes": 11}, {"at_us": 4000, "bytes": 11}]
    assert found["provenance"]["first_sequence"] == 1
    without = here.run("show", NAMES[1], "--json", "--headers", "--request").json
    assert "response" not in without
    assert "body" not in without["request"]


@pytest.mark.parametrize("sealed", [(), (1, 2)], ids=["written", "sealed"])
def test_raw_is_the_very_bytes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    sealed: tuple[int, ...],
) -> None:
    monkeypatch.setenv("BLACKBIRD_HOME", str(tmp_path))
    tracer = Tracer()
    request = tracer.exchange(1, end=False)
    tracer.add(Kind.RESPONSE_BODY, request, bytes(range(256)) + b"\r\n")
    tracer.save(tmp_path / "trace", sealed=sealed)
    for option, expected in (
        ("--response", b"data: one\n\ndata: two\n\n" + bytes(range(256)) + b"\r\n"),
        ("--request", b'{"model":"gannet-3","n":1}'),
    ):
        monkeypatch.setattr(sys, "argv", ["blackbird", "show", NAMES[1], "--raw", option])
        with pytest.raises(SystemExit) as ended:
            app.main()
        assert ended.value.code == 0
        assert capsysbinary.readouterr().out == expected


@pytest.mark.parametrize("form", ["whole", "bare", "short", "lower"])
def test_an_id_may_be_short(here: Place, form: str) -> None:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.exchange(0x7FFF_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF)
    tracer.save(here.home.trace)
    bare = NAMES[1].removeprefix("req_")
    text = {"whole": NAMES[1], "bare": bare, "short": "req_" + bare[:6], "lower": bare.lower()}[form]
    assert here.run("show", text, "--headers").out.startswith(NAMES[1])


def test_a_start_that_several_ids_have_lists_them(here: Place) -> None:
    recorded(here)
    done = here.run("show", "0100")
    assert (done.code, done.out) == (2, "")
    assert f"0100 stands for 3 requests: {NAMES[1]}, {NAMES[2]}, {NAMES[3]}" in done.err


def test_an_unknown_id_is_not_found_and_others_are_named(here: Place) -> None:
    recorded(here)
    done = here.run("show", NAMES[1][:-2] + "ZZ", "--json")
    assert (done.code, done.out) == (1, "")
    assert done.error["code"] == "not_found"
    assert done.error["remedy"] == f"near it: {', '.join(NAMES[1:])}"
    assert here.run("show", "req_zzz").err.endswith(f"the newest are {', '.join(NAMES[1:])}\n")
    assert here.run("show", "zzz").err.startswith("✗ there is no session zzz\n  the newest are ")
    (here.home.trace / "00000001.seal").write_bytes(b"broken")
    assert "a segment cannot be read" in here.run("show", NAMES[1]).err


def test_show_before_anything_is_recorded(here: Place) -> None:
    done = here.run("show", NAMES[1])
    assert done.code == 1
    assert "Nothing is recorded yet." in done.err


def test_raw_goes_with_nothing_else(here: Place) -> None:
    assert here.run("show", NAMES[1], "--raw", "--json").code == 2


def test_a_body_cannot_steer_the_terminal(here: Place) -> None:
    tracer = Tracer()
    request = tracer.exchange(1, end=False, start={"target": "/\x1b[2J", "session": "a\x07"})
    tracer.add(Kind.RESPONSE_BODY, request, b"\x1b]0;gotcha\x07")
    tracer.save(here.home.trace)
    for arguments in (("show", NAMES[1]), ("requests",), ("requests", "--json"), ("show", NAMES[1], "--json")):
        out = here.run(*arguments).out
        assert "\x1b" not in out
        assert "\x07" not in out


def websocket(here: Place, failure: dict[str, str] | None = None) -> None:
    """A question, its answer in two pieces, and a message that broke off."""
    tracer = Tracer()
    tracer.add(Kind.REQUEST_START, identifier(1), START)
    tracer.add(
        Kind.RESPONSE_START, identifier(1), {"status": 101, "reason": "", "version": "HTTP/1.1", "headers": []}
    )
    tracer.add(Kind.WS_FRAME, identifier(1), b'{"type":"ask"}', flags=Flag.FROM_CLIENT)
    tracer.add(Kind.WS_FRAME, identifier(1), b'{"type":', flags=Flag.CONTINUES)
    tracer.add(Kind.WS_FRAME, identifier(1), b'"answer"}')
    tracer.add(Kind.WS_FRAME, identifier(1), b"\x07", flags=Flag.BINARY | Flag.CONTINUES)
    side = {"messages": 1, "pings": 0, "pongs": 0, "close": None}
    close = {"code": 1000, "reason": "done"}
    sides = {"client": {**side, "close": close}, "server": side}
    end = END | {"websocket": sides} | (failure or {})
    tracer.add(Kind.ERROR if failure else Kind.RESPONSE_END, identifier(1), end)
    tracer.save(here.home.trace)


def test_a_websocket_is_shown_message_by_message(here: Place) -> None:
    websocket(here)
    done = here.run("show", NAMES[1])
    assert (done.code, done.err) == (0, "")
    assert "  messages   → 1 message, closed 1000 done; ← 1 message, no close\n" in done.out
    shown = done.out.partition("< HTTP/1.1 101\n")[2]
    assert shown.splitlines() == [
        "",
        "→ 2.0 ms  text, 14 bytes",
        "",
        "{",
        '  "type": "ask"',
        "}",
        "",
        "← 3.0 ms  text, 17 bytes",
        "",
        "{",
        '  "type": "answer"',
        "}",
        "",
        "← 5.0 ms  binary, 1 bytes, not complete",
        "",
        r"\x07",
    ]
    assert "←" not in here.run("show", NAMES[1], "--request").out.partition("HTTP/1.1\n")[2]
    assert here.run("show", NAMES[1], "--request", "--raw").out == '{"type":"ask"}'
    assert "2.0 ms" not in here.run("show", NAMES[1], "--headers").out


def test_a_websocket_in_the_list(here: Place) -> None:
    websocket(here)
    [_, row] = here.run("requests").out.splitlines()
    assert re.split(r"  +", row)[5] == "101"
    assert row.endswith("complete, 1 → 1 ←")
    [told] = lines(here.run("requests", "--json").out)
    assert (told["status"], told["messages"]) == (101, {"client": 1, "server": 1})


@pytest.mark.parametrize(
    ("code", "shown"),
    [("client_disconnected", "left by the client"), ("upstream_cut", "error (upstream_cut)")],
)
def test_a_client_that_leaves_a_websocket_without_a_word_made_no_error(here: Place, code: str, shown: str) -> None:
    websocket(here, {"where": "client", "code": code, "message": ""})
    assert here.run("requests").out.rstrip().endswith(f"{shown}, 1 → 1 ←")
    line = here.run("tail", "--requests", "--no-follow").out
    assert ("left" in line, code in line) == (shown.startswith("left"), shown.startswith("error"))


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_long_body_is_cut_on_a_terminal(is_cut: bool) -> None:
    data = b"x" * 500 + b"\n" + b"line\n" * 60
    console = Console(file=io.StringIO(), soft_wrap=True, highlight=False, markup=False)
    reading._show_body(console, data, is_cut=is_cut)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue().splitlines()
    assert shown[0] == ""
    if is_cut:
        assert shown[1] == "x" * 400 + "… (100 more characters: --full)"
        assert len(shown) == 42
        assert shown[-1] == "… 21 more lines: --full"
    else:
        assert shown[1] == "x" * 500
        assert len(shown) == 62
