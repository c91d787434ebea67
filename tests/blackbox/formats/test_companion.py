"""The companion: lines that agents' own tools read, and that give back every event."""

import json
from typing import Any

import pytest

from blackbox import parse
from blackbox.events.comments import Comment
from blackbox.formats.companion import Companion, from_companion, to_companion
from blackbox.formats.flight import Flight, Loss, flight_of, is_same
from blackbox.write.render import render_event

HEADER = "---\nformat: rlog/1\nid: s1\nrepo_sha: abc1234\nmodel: m\n---\n"


def flight(body: str) -> Flight:
    return flight_of(parse(HEADER + body)).flight


def lines(body: str) -> list[dict[str, Any]]:
    """The lines of a session but the first, without what is the same on each."""
    found = [json.loads(line) for line in to_companion(flight(body)).splitlines()[1:]]
    assert all(line.pop("sessionId") == "s1" for line in found)
    return found


def rendered(text: str) -> list[str]:
    return [render_event(entry.event, entry.meta) for entry in from_companion(text.encode()).flight.entries]


@pytest.mark.requirement("DUAL-03")
def test_the_first_line_is_the_session_with_its_header() -> None:
    first = json.loads(to_companion(flight("u: hi ts=2026-03-01T09:00:00Z\n")).splitlines()[0])
    assert first == {
        "type": "system",
        "message": {
            "subtype": "init",
            "session_id": "s1",
            "model": "m",
            "header": {"format": "rlog/1", "id": "s1", "repo_sha": "abc1234", "model": "m"},
        },
        "timestamp": "2026-03-01T09:00:00Z",
        "sessionId": "s1",
    }


@pytest.mark.requirement("DUAL-08")
def test_messages_carry_time_tokens_and_nothing_of_ours_where_none_is_needed() -> None:
    time = "2026-03-01T09:00:00Z"
    assert lines(
        f"u: hi id=u1 ts={time}\nth: hm sig=Ck9h\n"
        f"a: ho id=a1 parent=u1 tokens_in=5 tokens_out=7 tokens_cached=3 ts={time}\n"
    ) == [
        {"type": "user", "message": {"role": "user", "content": "hi"}, "timestamp": time, "uuid": "u1"},
        {
            "type": "assistant",
            "message": {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "hm", "signature": "Ck9h"}],
                "model": "m",
            },
        },
        {
            "type": "assistant",
            "message": {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "text", "text": "ho"}],
                "model": "m",
                "usage": {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 3},
                "id": "a1",
            },
            "timestamp": time,
            "uuid": "a1",
            "parentUuid": "u1",
        },
    ]


@pytest.mark.requirement("DUAL-08")
def test_a_line_names_its_response_and_the_request_for_it() -> None:
    body = (
        "th: Hm id=m1 tokens_in=9 extra.response=msg_1 extra.request=req_1\n"
        "t!:Read id=c1 extra.response=msg_1 extra.request=req_1 → [running]\n"
    )
    thought, call = lines(body)
    assert (thought["uuid"], thought["message"]["id"], thought["requestId"]) == ("m1", "msg_1", "req_1")
    assert thought["message"]["usage"] == {"input_tokens": 9}
    assert (call["message"]["id"], call["requestId"]) == ("msg_1", "req_1")
    read = from_companion(to_companion(flight(body)).encode())
    assert all(is_same(one, other) for one, other in zip(read.flight.entries, flight(body).entries, strict=True))


def test_inline_metrics_are_the_usage_of_their_message() -> None:
    (line,) = lines("a: ho # metrics prompt=520 completion=80 cached=200\n")
    assert line["message"]["usage"] == {
        "input_tokens": 320,
        "output_tokens": 80,
        "cache_read_input_tokens": 200,
    }


def test_a_start_and_its_observation_are_a_call_and_its_result() -> None:
    call, answer = lines("t!:Read id=c1 path=a.rs → [running]\no: id=c1 → [ok] 3 lines\n")
    assert call["message"]["content"] == [{"type": "tool_use", "name": "Read", "input": {"path": "a.rs"}, "id": "c1"}]
    assert answer["message"]["content"] == [{"type": "tool_result", "tool_use_id": "c1", "content": "3 lines"}]
    assert "bbox" not in call
    assert "bbox" not in answer


@pytest.mark.requirement("DUAL-03")
def test_a_call_with_its_result_is_two_lines_and_reads_as_one_event() -> None:
    body = "t:read id=c1 a.rs step=2 → out\n"
    call, answer = lines(body)
    assert call["bbox"] == {"joined": True, "t": "t", "step": 2}
    assert answer["bbox"] == {"as": "text"}
    assert rendered(to_companion(flight(body))) == [body[:-1]]


def test_the_end_of_a_started_call_is_no_second_call() -> None:
    started = 't!:test id=c1 → [running]\nt~:test id=c1 "1/2"\nt!:test id=c1 → [retry 2/3]\n'
    found = lines(started + "t:test id=c1 latency_ms=5 → [err: no]\n")
    assert [line["type"] for line in found] == ["assistant", "system", "system", "user"]
    assert found[3]["message"]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}
    ]
    assert found[3]["bbox"] == {"as": "err", "t": "t", "n": "test", "latency_ms": 5}


def test_sub_agents_are_tasks_and_mcp_methods_tools_of_their_server() -> None:
    task, done, mcp, _ = lines('x:explore id=s1 "find it" → [started]\nx:explore id=s1 → [done]\nc:gh.issues → [2]\n')
    assert task["message"]["content"][0]["name"] == "Task"
    assert task["message"]["content"][0]["input"] == {"subagent_type": "explore", "prompt": "find it"}
    assert done["message"]["content"][0]["tool_use_id"] == "s1"
    assert mcp["message"]["content"][0]["name"] == "mcp__gh__issues"


def test_everything_else_is_a_system_line() -> None:
    assert lines("m:auto ts=x\n# t=00:00:05\n@phase explore\n") == [
        {"type": "system", "message": {"subtype": "event", "t": "m", "v": "auto"}, "timestamp": "x"},
        {"type": "system", "message": {"subtype": "event", "t": "#", "c": "t=00:00:05"}},
        {"type": "system", "message": {"subtype": "event", "t": "@", "n": "phase", "a": {"_": ["explore"]}}},
    ]


@pytest.mark.requirement("DUAL-03")
def test_no_long_text_is_stored_twice() -> None:
    text = "long text " * 50
    body = "".join(
        f"{head} {text.strip()}\n"
        for head in ("u:", "a: step=1", "t:x → ", "t:x → [ok]", "t:x → [3 lines]", "o: id=c →", "x:y →")
    )
    assert all(json.dumps(line).count("long text") <= 50 for line in lines(body))


def test_a_torn_file_reads_up_to_the_cut() -> None:
    whole = flight("u: hi\nt:read id=c1 a.rs → out\na: ho\n")
    data = to_companion(whole).encode()
    for end in range(len(data)):
        reading = from_companion(data[:end])
        for found, entry in zip(reading.flight.entries[:-1], whole.entries, strict=False):
            assert is_same(found, entry)
        assert len(reading.flight.entries) <= len(whole.entries)
        assert all(loss.what == "bad-lines" for loss in reading.losses)


def test_a_bad_line_is_named_and_the_rest_goes_on() -> None:
    text = '{"type":"user","message":{"content":"a"}}\n{"type":\n{"type":"user","message":{"content":"b"}}\n'
    reading = from_companion(text.encode())
    assert reading.losses == [Loss("bad-lines", 1, (2,))]
    assert rendered(text) == ["u: a", "u: b"]


def test_a_header_that_json_cannot_carry_comes_back() -> None:
    given = Flight({"id": "s\udc80", "model": "m\udc80"}, flight("a: hi\n").entries)
    assert from_companion(to_companion(given).encode()).flight == given


def test_a_call_that_is_nobodys_json_is_kept_as_it_is() -> None:
    for body in (
        'x:plan "a" "b" → [started]\n',
        "x:plan prompt=x → [started]\n",
        "o: id=c partial=x\n",
        "o: → [ok]\n",
    ):
        (line,) = lines(body)
        assert line["type"] == "system"
        assert rendered(to_companion(flight(body))) == [
            render_event(entry.event, entry.meta) for entry in flight(body).entries
        ]


def test_comments_have_no_metadata_whatever_their_line_says() -> None:
    reading = from_companion(b'{"type":"system","message":{"subtype":"event","t":"#","c":"x"},"timestamp":"t"}')
    (entry,) = reading.flight.entries
    assert isinstance(entry.event, Comment)
    assert entry.meta == {}


def test_the_writer_numbers_calls_without_an_id() -> None:
    writer = Companion({"id": "s"})
    calls = [writer.lines(entry)[0] for entry in flight("t:a → 1\nt:b → 2\n").entries]
    assert [call["message"]["content"][0]["id"] for call in calls] == ["bbox_1", "bbox_2"]
    assert [call["bbox"]["id"] for call in calls] == [None, None]
