"""Events written and read back: any text in any place gives the very same typed values."""

import decimal

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blackbox import UsageError, parse
from blackbox.events import Event
from blackbox.events.build import Unparsed
from blackbox.events.calls import Arguments, McpCall, ToolCall, build_mode
from blackbox.events.comments import Fields, Metrics, Remark
from blackbox.events.lifecycle import Lifecycle, Other
from blackbox.events.messages import Message, Thinking
from blackbox.syntax.kinds import Kind
from blackbox.write import results
from blackbox.write.render import render_event
from tests.blackbox.write import strategies

HEADER = "---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\nescape: 1\n---\n\n"


def plain(event: Event) -> Event:
    """An event without the spelling of its result, which is the writer's business."""
    result = getattr(event, "result", None)
    if result is None:
        return event
    return msgspec.structs.replace(event, result=msgspec.structs.replace(result, raw=""))


def read(written: str) -> list[tuple[Event, dict[str, str]]]:
    """The events of a body, with their metadata."""
    document = parse((HEADER + written).encode())
    return [(plain(line.event), line.parts.raw_meta) for line in document.lines[1:]]


@pytest.mark.requirement("ARGS-13", "ARGS-15", "WRITE-07", "PROOF-02")
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.sessions)
def test_any_session_reads_back_equal(session: list[tuple[Event, dict[str, str]]]) -> None:
    written = "".join(render_event(event, meta) + "\n" for event, meta in session)
    assert read(written) == [(plain(event), meta) for event, meta in session]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.sessions)
def test_what_was_read_can_be_written_again(session: list[tuple[Event, dict[str, str]]]) -> None:
    written = "".join(render_event(event, meta) + "\n" for event, meta in session)
    document = parse((HEADER + written).encode())
    again = "".join(render_event(line.event, line.parts.raw_meta) + "\n" for line in document.lines[1:])
    assert read(again) == read(written)


@settings(max_examples=60, deadline=None)
@given(st.lists(strategies.texts, max_size=4))
def test_every_entry_is_one_entry(texts: list[str]) -> None:
    written = "".join(render_event(Message("user", text)) + "\n" for text in texts)
    assert len(parse((HEADER + written).encode()).lines) == len(texts) + 1


def check(event: Event, expected: str, **meta: str) -> None:
    assert render_event(event, meta) == expected
    assert read(expected + "\n") == [(plain(event), meta)]


def test_ordinary_text_looks_ordinary() -> None:
    text = "It's 50% done: a → b, `x = 5`, [ok] C:/new #142 (see notes) \U0001f600"
    check(Message("user", text), f"u: {text}")


def test_lines_of_a_message_are_continuations() -> None:
    check(Message("agent", "one\n\n  two\nthree "), "a: one\n  \\e\n    two\n  three\\s")


def test_a_text_that_begins_with_an_empty_line() -> None:
    check(Thinking("\nthen"), "th: \\e\n  then")


def test_an_empty_text_keeps_its_metadata_apart() -> None:
    check(Message("user", ""), "u: \\e step=1", step="1")


def test_a_trailing_run_of_known_keys_is_escaped() -> None:
    check(Message("user", "see id=5 step=3"), "u: see id\\=5 step\\=3 ts=x", ts="x")
    check(Message("user", "id=5 is wrong"), "u: id=5 is wrong")


def test_a_message_that_ends_like_metrics() -> None:
    check(Message("agent", "x # metrics"), "a: x \\# metrics step=1", step="1")


def test_the_flag_follows_a_pair() -> None:
    event = ToolCall("read", Arguments(("a.rs",)), None)
    assert render_event(event, {"id": "c", "interrupted": ""}) == "t:read id=c interrupted a.rs"
    check(event, "t:read id=c a.rs step=4 interrupted", id="c", step="4", interrupted="")
    with pytest.raises(UsageError, match="interrupted"):
        render_event(event, {"interrupted": ""})


def test_control_characters_go_by_number() -> None:
    check(Message("user", "\x1b[31m\r\x00\x85\u2028\ud800"), "u: \\x1b[31m\\r\\x00\\x85\\u2028\\ud800")


@pytest.mark.requirement("ARGS-02", "ARGS-04")
def test_arguments_are_bare_where_that_is_safe() -> None:
    arguments = Arguments(
        ("src/a.rs", "two words", "k=v", "--x=1", "", "interrupted", ("a", "b c")),
        {"type": "rs", "pattern": 'say "hi" → now', "a b": "1", "model": "m"},
    )
    check(
        ToolCall("grep", arguments, None),
        't:grep src/a.rs "two words" "k=v" --x=1 "" "interrupted" [a, "b c"] '
        'type=rs pattern="say \\"hi\\" \\→ now" "a b"=1 "model"=m',
    )


def test_metadata_values_are_bare_words() -> None:
    check(
        ToolCall("read", Arguments(), None),
        't:read id=a\\sb span=\\[x] level=\\"q\\"\\→',
        id="a b",
        span="[x]",
        level='"q"→',
    )


def test_free_results_that_look_like_something_else() -> None:
    call = ToolCall("x", Arguments(), results.text("[ok] really"))
    check(call, "t:x → \\[ok] really")
    check(ToolCall("x", Arguments(), results.text("@blob sha256=ab")), "t:x → \\@blob sha256=ab")
    check(ToolCall("x", Arguments(), results.text("[found]")), "t:x → [found]")
    check(ToolCall("x", Arguments(), results.text("")), "t:x → \\e")
    check(ToolCall("x", Arguments(), results.text("done ts=5")), "t:x → done ts\\=5")


def test_a_long_free_result_stands_below_its_call() -> None:
    check(ToolCall("git", Arguments(("log",)), results.text("a\n  b")), "t:git log →\n  a\n    b")


def test_comments_behind_modes_and_primitives() -> None:
    check(build_mode("auto", Arguments(), "a # b"), "m:auto # a # b")
    assessed = Lifecycle("new", Other("new"), Arguments(("#",)), results.text('5" disk # x'), 'say "y"')
    check(assessed, '@new "#" → 5\\" disk \\# x # say "y"')


def test_remarks_stay_remarks() -> None:
    check(Remark("Check recent changes"), "# Check recent changes")
    check(Remark("notes: x"), "# notes\\: x")
    check(Remark("t=00:00:01"), "# t\\=00:00:01")
    check(Remark("metrics step=1"), "# \\emetrics step=1")
    check(Remark(""), "#")


def test_metrics_keep_their_names_apart() -> None:
    metrics = Metrics(step=3, prompt_tokens=520, cost_usd=decimal.Decimal("0.00045"), extra={"a-b": "c d"})
    check(metrics, "# metrics step=3 prompt_tokens=520 cost_usd=0.00045 extra.a-b=c\\sd")
    check(Message("agent", "x", metrics), "a: x # metrics step=3 prompt=520 cost=0.00045 extra.a-b=c\\sd")


@pytest.mark.parametrize("name", ["", "two words", "a\tb", "a\nb", "a→b", "\x00", "\ud800", "\xa0"])
def test_names_that_no_line_can_hold_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="tool") as refused:
        render_event(ToolCall(name, Arguments(), None))
    assert refused.value.remedy


@pytest.mark.parametrize(
    "event",
    [
        McpCall("a.b", "c", Arguments(), None),
        McpCall("a", "b c", Arguments(), None),
        ToolCall("x", Arguments(), None, "later"),
        Message("system", "x"),
        Lifecycle("no words", Other("no words"), Arguments(), None),
        Unparsed(Kind.BLANK, ""),
        Metrics(),
        Metrics(other={"step": "x"}),
        Metrics(extra={"a b": "x"}),
        Metrics(prompt_tokens=-1),
        Metrics(cost_usd=decimal.Decimal("NaN")),
        Fields({"tokens": "5"}),
    ],
)
def test_what_cannot_be_written_is_refused(event: Event) -> None:
    with pytest.raises(UsageError) as refused:
        render_event(event)
    assert refused.value.remedy


def test_metadata_that_no_reader_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="colour"):
        render_event(Message("user", "x"), {"colour": "red"})
    with pytest.raises(UsageError, match="comment"):
        render_event(Remark("x"), {"step": "1"})
