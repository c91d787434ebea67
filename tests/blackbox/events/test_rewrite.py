"""Events with their texts mapped: nothing else changes, and what is derived follows."""

import decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbox import parse
from blackbox.events import Event, calls, comments, lifecycle, messages
from blackbox.events.rewrite import map_meta, map_texts
from blackbox.syntax.results import Blob, Result, ResultKind
from blackbox.write import metrics_of, render_event, results
from blackbox.write.spelling import todos_of
from tests.blackbox.write import strategies

HEADER = "---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\nescape: 1\n---\n\n"
HASH = "0123456789abcdef" * 4


def hide(text: str) -> str:
    return text.replace("hunter2", "[redacted:password]")


def hide_value(key: str, value: str) -> str:
    return "[redacted:named]" if key == "password" else hide(value)


def hidden(event: Event) -> Event:
    return map_texts(event, hide, hide_value)


def read_back(event: Event) -> Event:
    return parse(HEADER + render_event(event)).lines[-1].event


@given(strategies.lines)
def test_functions_that_change_nothing_give_the_event_itself(line: tuple[Event, dict[str, str]]) -> None:
    event, meta = line
    assert map_texts(event, lambda text: text, lambda _key, value: value) is event
    assert map_meta(meta, lambda _key, value: value) == meta


@given(strategies.lines, st.sampled_from(["[redacted:x]", "marked"]))
def test_a_word_that_is_mapped_away_is_nowhere_in_the_line(line: tuple[Event, dict[str, str]], marker: str) -> None:
    event, _ = line

    def change(text: str) -> str:
        return text.replace("two words", marker)

    mapped = map_texts(event, change, lambda _key, value: change(value))
    keys = [*getattr(event, "arguments", calls.Arguments()).keyword]
    structured = "" if isinstance(event, comments.FileSnapshot) else render_event(mapped)
    assert "two words" not in structured or any("two words" in key for key in keys)


@given(strategies.lines)
def test_a_mapped_event_reads_back_as_itself(line: tuple[Event, dict[str, str]]) -> None:
    event, _ = line
    mapped = map_texts(event, lambda text: text.replace("word", "[redacted:x]"), lambda _key, value: value)
    if isinstance(mapped, messages.Todos | lifecycle.Lifecycle) or mapped is event:
        return
    again = parse(HEADER + render_event(mapped)).lines[-1].event
    assert type(again) is type(mapped)
    assert without_spelling(again) == without_spelling(mapped)


def without_spelling(event: Event) -> str:
    result = getattr(event, "result", None)
    said = (result.kind, result.text, result.detail, result.choices) if isinstance(result, Result) else None
    return repr((said, getattr(event, "arguments", None), getattr(event, "text", None)))


SECRET = "say hunter2 now"
SHOWN = "say [redacted:password] now"
GIVEN = calls.Arguments((SECRET, ("a", SECRET)), {"flag": SECRET, "password": "x", "list": (SECRET, "b")})
KEPT = calls.Arguments((SHOWN, ("a", SHOWN)), {"flag": SHOWN, "password": "[redacted:named]", "list": (SHOWN, "b")})
MET = metrics_of(3, prompt_tokens=5, extra={"note": SECRET}, other={"password": "x"}, logprobs=Blob(HASH, 1, "a/b"))


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (messages.Message("user", SECRET), messages.Message("user", SHOWN)),
        (messages.Thinking(SECRET), messages.Thinking(SHOWN)),
        (
            messages.Message("agent", "x", MET),
            messages.Message(
                "agent",
                "x",
                metrics_of(
                    3,
                    prompt_tokens=5,
                    extra={"note": SHOWN},
                    other={"password": "[redacted:named]"},
                    logprobs=Blob(HASH, 1, "a/b"),
                ),
            ),
        ),
        (
            todos_of([messages.Todo("pending", SECRET)]),
            messages.Todos((messages.Todo("pending", SHOWN),), f"[pending] {SHOWN}"),
        ),
        (calls.ToolCall("hunter2", GIVEN, None), calls.ToolCall("hunter2", KEPT, None)),
        (calls.McpCall("hunter2", "m", GIVEN, None), calls.McpCall("hunter2", "m", KEPT, None)),
        (calls.build_plan("create", GIVEN, None), calls.build_plan("create", KEPT, None)),
        (calls.build_recall(GIVEN, None), calls.build_recall(KEPT, None)),
        (calls.build_skill("s", GIVEN, None), calls.build_skill("s", KEPT, None)),
        (calls.build_question(GIVEN, None), calls.build_question(KEPT, None)),
        (calls.build_observation(GIVEN, None), calls.build_observation(KEPT, None)),
        (calls.build_mode("auto", GIVEN, SECRET), calls.build_mode("auto", KEPT, SHOWN)),
        (
            lifecycle.Lifecycle("notify", lifecycle.Notify(SECRET), calls.Arguments((SECRET,)), None, SECRET),
            lifecycle.Lifecycle("notify", lifecycle.Notify(SHOWN), calls.Arguments((SHOWN,)), None, SHOWN),
        ),
        (
            lifecycle.Lifecycle("snapshot", lifecycle.Snapshot("s1", SECRET), calls.Arguments((SECRET,)), None),
            lifecycle.Lifecycle("snapshot", lifecycle.Snapshot("s1", SHOWN), calls.Arguments((SHOWN,)), None),
        ),
        (
            lifecycle.Lifecycle("init", lifecycle.Init(SECRET), calls.Arguments(), None),
            lifecycle.Lifecycle("init", lifecycle.Init(SHOWN), calls.Arguments(), None),
        ),
        (comments.Remark(SECRET), comments.Remark(SHOWN)),
        (comments.Note(SECRET), comments.Note(SHOWN)),
        (comments.Status(SECRET), comments.Status(SHOWN)),
        (comments.RawEvent("codex", SECRET), comments.RawEvent("codex", SHOWN)),
        (
            comments.Fields({"password": "x", "a": ("b", SECRET)}),
            comments.Fields({"password": "[redacted:named]", "a": ("b", SHOWN)}),
        ),
        (comments.ModelSwitch(SECRET, SECRET), comments.ModelSwitch(SHOWN, SHOWN)),
        (comments.Condense(1, 2, SECRET), comments.Condense(1, 2, SHOWN)),
        (comments.Anchor(1, SECRET), comments.Anchor(1, SHOWN)),
        (comments.MemoryStore(SECRET, SECRET), comments.MemoryStore(SHOWN, SHOWN)),
        (comments.QueueOperation("enqueue", SECRET), comments.QueueOperation("enqueue", SHOWN)),
        (comments.FileSnapshot("hunter2", 3), comments.FileSnapshot("hunter2", 3)),
        (comments.Budget(decimal.Decimal(5), None, 3), comments.Budget(decimal.Decimal(5), None, 3)),
        (
            comments.Totals(tokens=3, duration="1s", other={"note": SECRET}),
            comments.Totals(tokens=3, duration="1s", other={"note": SHOWN}),
        ),
    ],
)
def test_every_text_of_every_event(event: Event, expected: Event) -> None:
    assert hidden(event) == expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (results.text(f'{SECRET} "x"'), results.text(f'{SHOWN} "x"')),
        (results.ok(SECRET), results.ok(SHOWN)),
        (results.done(f"a\\b\n{SECRET}"), results.done(f"a\\b\n{SHOWN}")),
        (results.err(SECRET), results.err(SHOWN)),
        (results.lines(2, f"one\n{SECRET}"), results.lines(2, f"one\n{SHOWN}")),
        (results.selected("a", SECRET), results.selected("a", SHOWN)),
        (results.auto("a", reason=SECRET), results.auto("a", reason=SHOWN)),
        (results.fields(session_id="s", summary=SECRET), results.fields(session_id="s", summary=SHOWN)),
        (results.blob(HASH, 7, "text/plain"), results.blob(HASH, 7, "text/plain")),
    ],
)
def test_results_of_every_kind(result: Result, expected: Result) -> None:
    event = read_back(hidden(calls.ToolCall("t", calls.Arguments(), result)))
    again = read_back(calls.ToolCall("t", calls.Arguments(), expected))
    assert isinstance(event, calls.ToolCall)
    assert isinstance(again, calls.ToolCall)
    assert event.result is not None
    assert again.result is not None
    assert said(event.result) == said(again.result)


def said(result: Result) -> tuple[object, ...]:
    return result.kind, result.choices or result.text, result.detail, result.reason, result.fields


def test_the_fields_of_a_sub_agent_follow_its_result() -> None:
    given_result = results.fields(session_id="s7", path="a.bbox", summary='said "hunter2"')
    event = hidden(calls.build_subagent("explore", calls.Arguments(), given_result))
    assert isinstance(event, calls.Subagent)
    assert (event.session_id, event.path, event.summary) == ("s7", "a.bbox", 'said "[redacted:password]"')


def test_the_answer_of_a_question_follows_its_result() -> None:
    event = hidden(calls.build_question(calls.Arguments(), results.answer(SECRET)))
    assert isinstance(event, calls.Question)
    assert event.answer == calls.Answer("text", text=SHOWN)


def test_a_result_put_together_by_hand_is_mapped_field_by_field() -> None:
    by_hand = Result(ResultKind.ERR, "whatever hunter2", detail=SECRET, word="err")
    event = hidden(calls.ToolCall("t", calls.Arguments(), by_hand))
    assert render_event(event) == f"t:t → [err: {SHOWN}]"


def test_metadata_is_asked_for_by_its_own_name() -> None:
    time = "2025-12-18T03:21:09.000Z"
    meta = {"id": "hunter2", "step": "3", "ts": time, "extra.password": "x", "sig": "y", "interrupted": ""}
    assert map_meta(meta, hide_value) == {
        "id": "[redacted:password]",
        "step": "3",
        "ts": time,
        "extra.password": "[redacted:named]",
        "sig": "y",
        "interrupted": "",
    }
