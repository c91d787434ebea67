"""Short keys: any event becomes an object and comes back, and the founding examples are read."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from blackbox import parse
from blackbox.events import Event
from blackbox.events.calls import Arguments, McpCall, Plan, Skill, Subagent, ToolCall
from blackbox.events.comments import RawEvent
from blackbox.events.messages import Message
from blackbox.formats import jsonlines, shortkeys
from blackbox.formats.flight import Entry, Flight, Loss, flight_of, is_same
from blackbox.write.render import render_event
from tests.blackbox.write import strategies

FOUNDING = """\
{"t":"u","c":"Add ad monetization to billing tier"}
{"t":"a","c":"I'll analyze the billing system."}
{"t":"t","n":"grep","a":{"pattern":"billing","type":"rs"},"r":{"files":4}}
{"t":"t","n":"read","a":{"path":"src/billing/mod.rs"},"r":{"lines":186}}
{"t":"s","n":"pricing-tiers","a":"activate","r":"ok"}
{"t":"x","n":"explore","q":"ad tier check","r":"found in src/ads/display.rs"}
{"t":"p","a":"create","title":"Ad monetization","r":{"steps":6}}
{"t":"m","v":"auto"}
{"t":"t","n":"write","a":{"path":"src/billing/ads.rs"},"r":"ok"}
{"t":"c","s":"github","m":"pr.create","r":{"pr":203}}
{"t":"a","c":"Done. PR #203."}
"""
OBJECTS = [
    ("u: Hello step=3 ts=2026-03-01T09:00:00Z", {"t": "u", "c": "Hello", "step": 3, "ts": "2026-03-01T09:00:00Z"}),
    (
        "a: Hi # metrics prompt=5 cost=0.01",
        {"t": "a", "c": "Hi", "metrics": {"prompt_tokens": 5, "cost_usd": "0.01"}},
    ),
    ("th: Why? sig=Ck9h", {"t": "th", "c": "Why?", "sig": "Ck9h"}),
    ("td: [pending] Fix", {"t": "td", "c": "[pending] Fix"}),
    (
        "t:git id=c1 log -5 path=src latency_ms=12 → [5]",
        {
            "t": "t",
            "n": "git",
            "a": {"_": ["log", "-5"], "path": "src"},
            "r": {"count": 5},
            "id": "c1",
            "latency_ms": 12,
        },
    ),
    ("t!:test id=c2 → [running]", {"t": "t!", "n": "test", "r": "running", "id": "c2"}),
    ('t~:test id=c2 "1/5"', {"t": "t~", "n": "test", "a": {"_": ["1/5"]}, "id": "c2"}),
    (
        "o: id=c2 step=4 interrupted → [error] stopped",
        {"t": "o", "r": {"error": "stopped"}, "id": "c2", "step": 4, "interrupted": True},
    ),
    ("s:deploy activate → [ok]", {"t": "s", "n": "deploy", "a": "activate", "r": "ok"}),
    ("s:deploy install force=yes", {"t": "s", "n": "deploy", "a": {"_": ["install"], "force": "yes"}}),
    (
        'p:create id=p1 "Auth plan" → [4 steps]',
        {"t": "p", "a": "create", "title": "Auth plan", "r": {"steps": 4}, "id": "p1"},
    ),
    ("p:file path=plan.md", {"t": "p", "a": "file", "args": {"path": "plan.md"}}),
    ("m:auto afk=true # away", {"t": "m", "v": "auto", "a": {"afk": "true"}, "comment": "away"}),
    ('r: "auth" "billing" → [2 matches]', {"t": "r", "q": ["auth", "billing"], "r": {"matches": 2}}),
    (
        'x:explore id=sub_1 "find it" → [started]',
        {"t": "x", "n": "explore", "q": "find it", "r": "started", "id": "sub_1"},
    ),
    (
        "c:github.issues state=open → [8 issues]",
        {"t": "c", "s": "github", "m": "issues", "a": {"state": "open"}, "r": {"issues": 8}},
    ),
    (
        'q: id=q_1 "Which?" options=[A, B] → [pending]',
        {"t": "q", "q": "Which?", "a": {"options": ["A", "B"]}, "r": "pending", "id": "q_1"},
    ),
    ("# budget: $5 tokens=7", {"t": "#", "c": "budget: $5 tokens=7"}),
    ("@checkpoint hour=4 # half", {"t": "@", "n": "checkpoint", "a": {"hour": "4"}, "comment": "half"}),
    ("@phase explore", {"t": "@", "n": "phase", "a": {"_": ["explore"]}}),
]


def entry_of(line: str) -> Entry:
    (entry,) = flight_of(parse(line)).flight.entries
    return entry


@pytest.mark.requirement("JSONL-01", "JSONL-02")
@pytest.mark.parametrize(("line", "value"), OBJECTS, ids=[line for line, _ in OBJECTS])
def test_each_type_has_its_keys(line: str, value: dict[str, object]) -> None:
    assert shortkeys.encode(entry_of(line)) == value
    read = shortkeys.decode(value)
    assert read is not None
    assert is_same(read, entry_of(line))


@pytest.mark.requirement("JSONL-02", "JSONL-03")
def test_the_founding_example_is_read() -> None:
    reading = shortkeys.from_jsonl(FOUNDING.encode())
    assert reading.losses == []
    events = [entry.event for entry in reading.flight.entries]
    assert [render_event(event) for event in events] == [
        "u: Add ad monetization to billing tier",
        "a: I'll analyze the billing system.",
        "t:grep pattern=billing type=rs → [4 files]",
        "t:read path=src/billing/mod.rs → [186 lines]",
        "s:pricing-tiers activate → [ok]",
        'x:explore "ad tier check" → found in src/ads/display.rs',
        'p:create "Ad monetization" → [6 steps]',
        "m:auto",
        "t:write path=src/billing/ads.rs → [ok]",
        "c:github.pr.create → [203 pr]",
        "a: Done. PR #203.",
    ]
    assert events[0] == Message("user", "Add ad monetization to billing tier")
    assert isinstance(events[3], ToolCall)
    assert isinstance(events[4], Skill)
    assert (events[4].action, events[4].arguments) == ("activate", Arguments(("activate",)))
    assert isinstance(events[5], Subagent)
    assert events[5].task == "ad tier check"
    assert isinstance(events[6], Plan)
    assert events[6].title == "Ad monetization"
    assert isinstance(events[9], McpCall)
    assert (events[9].server, events[9].method) == ("github", "pr.create")


@pytest.mark.requirement("JSONL-03")
def test_the_founding_counts_are_written_as_they_were_read() -> None:
    flight = shortkeys.from_jsonl(FOUNDING.encode()).flight
    _, *lines = shortkeys.to_jsonl(flight).splitlines()
    assert [json.loads(line) for line in lines] == [json.loads(line) for line in FOUNDING.splitlines()]


@pytest.mark.requirement("JSONL-04")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.lines)
def test_any_event_comes_back(line: tuple[Event, dict[str, str]]) -> None:
    entry = Entry(*line)
    value = jsonlines.load(jsonlines.dump(shortkeys.encode(entry)).encode())
    assert value is not None
    read = shortkeys.decode(value)
    assert read is not None
    assert is_same(read, entry)


def test_a_text_that_json_cannot_carry_is_escaped() -> None:
    entry = Entry(Message("user", "byte \udc80 \\"), {"step": "1"})
    assert shortkeys.encode(entry) == {"t": "u", "c": "byte \\udc80 \\\\", "step": 1, "escape": 1}
    assert shortkeys.decode(shortkeys.encode(entry)) == entry


def test_an_event_that_its_keys_would_change_stands_in_its_log_spelling() -> None:
    entry = Entry(ToolCall("x", Arguments((), {"_": ("a",)}), None), {"step": "1"})
    assert shortkeys.encode(entry) == {"t": "t", "bbox": "t:x _=[a] step=1"}
    assert shortkeys.decode(shortkeys.encode(entry)) == entry


def test_a_call_that_no_line_can_hold_is_an_object_all_the_same() -> None:
    entry = Entry(ToolCall("", Arguments(("\udc80",), {}), None), {})
    assert shortkeys.encode(entry) == {"t": "t", "n": "", "a": {"_": ["\\udc80"]}, "escape": 1}
    assert shortkeys.decode(shortkeys.encode(entry)) == entry
    nameless = Entry(ToolCall("", Arguments((), {"_": ("a",)}), None), {})
    assert shortkeys.encode(nameless) == {"t": "t", "n": "", "a": {"_": ["a"]}}


def test_the_header_is_the_first_line() -> None:
    flight = Flight({"format": "bbox/1", "skills": ["a", "b"], "toolset": {"git": "2.50"}}, [])
    text = shortkeys.to_jsonl(flight)
    assert text == '{"t":"---","v":{"format":"bbox/1","skills":["a","b"],"toolset":{"git":"2.50"}}}\n'
    assert shortkeys.from_jsonl(text.encode()).flight == flight


def test_a_header_that_json_cannot_carry_comes_back() -> None:
    flight = Flight({"id": "s\udc80", "repo_sha": "abc1234"}, [])
    assert shortkeys.from_jsonl(shortkeys.to_jsonl(flight).encode()).flight == flight


def test_scalars_of_a_header_by_others_become_text() -> None:
    reading = shortkeys.from_jsonl(b'{"t":"---","v":{"dirty":true,"budget":50,"mcp":[1],"notes":null}}')
    assert reading.flight.header == {"dirty": "true", "budget": "50", "mcp": ["1"], "notes": "null"}


def test_a_header_deeper_than_any_is_kept_as_text() -> None:
    deep = "[" * 500 + "]" * 500
    flight = shortkeys.from_jsonl(f'{{"t":"---","v":{{"k":{deep}}}}}'.encode()).flight
    value = flight.header["k"]
    for _ in range(39):
        assert isinstance(value, list)
        (value,) = value
    assert value == ["[" * 460 + "]" * 460]


@pytest.mark.requirement("JSONL-04")
def test_lines_that_are_no_objects_are_named_and_the_rest_is_read() -> None:
    reading = shortkeys.from_jsonl(b'{"t":"u","c":"a"}\n{"t":\n[1]\n\n{"t":"zz","c":"b"}\n{"t":"u","c":"c"}')
    assert [entry.event for entry in reading.flight.entries] == [
        Message("user", "a"),
        RawEvent("codex", '{"t":"zz","c":"b"}'),
        Message("user", "c"),
    ]
    assert reading.losses == [Loss("bad-lines", 2, (2, 3)), Loss("unknown-lines", 1, (5,))]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"t": 5},
        {"t": "u"},
        {"t": "a", "c": None, "metrics": {"step": "x"}},
        {"t": "td", "c": [{"status": "no state!", "text": 1}, 7]},
        {"t": "td", "c": 5},
        {"t": "t", "n": 5, "a": [1, {"b": 2}], "r": [None]},
        {"t": "s", "a": 5},
        {"t": "@"},
        {"t": "#", "c": {"x": 1}},
        {"t": "u", "bbox": "  "},
        {"t": "u", "c": "x", "step": [1], "id": None, "interrupted": "yes"},
    ],
)
def test_odd_objects_do_no_harm(value: dict[str, object]) -> None:
    entry = shortkeys.decode(value)
    assert entry is None or isinstance(shortkeys.encode(entry), dict)
