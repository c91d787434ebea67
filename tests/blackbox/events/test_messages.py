"""Messages, thinking and todo lists."""

from decimal import Decimal

import pytest

from blackbox.events.comments import Metrics
from blackbox.events.messages import Message, Thinking, Todo, Todos, parse_todos
from blackbox.syntax.kinds import Kind
from tests.blackbox.events.entry import event


@pytest.mark.requirement("PREFIX-01")
def test_user_message_runs_to_the_end_of_the_line() -> None:
    assert event("u: Use A → B, not a=b # really") == Message("user", "Use A → B, not a=b # really")


@pytest.mark.requirement("PREFIX-02")
def test_agent_message() -> None:
    assert event("a: On it.") == Message("agent", "On it.")


def test_message_needs_no_space() -> None:
    assert event("u:On it.") == Message("user", "On it.")


@pytest.mark.requirement("LAYOUT-04")
def test_continuations_are_joined() -> None:
    assert event("a: Three pieces:\n  - one\n\t- two\n    - deeper") == Message(
        "agent", "Three pieces:\n- one\n- two\n  - deeper"
    )


def test_text_may_begin_below_the_prefix() -> None:
    assert event("a:\n  first\n  second") == Message("agent", "first\nsecond")


@pytest.mark.requirement("METRIC-01", "METRIC-04")
def test_inline_metrics() -> None:
    metrics = Metrics(None, 520, 80, 200, Decimal("0.00045"))
    found = event("a: Here. step=3 # metrics prompt=520 completion=80 cached=200 cost=0.00045")
    assert found == Message("agent", "Here.", metrics)


@pytest.mark.requirement("RLOG-01")
def test_thinking_with_continuation_and_signature_apart() -> None:
    assert event("th: The flag is unread. sig=Zx9\n  Look at the caller.") == Thinking(
        "The flag is unread.\nLook at the caller."
    )


@pytest.mark.requirement("RLOG-02")
def test_todos_in_order() -> None:
    assert event("td: [in_progress] Leave drafts out [pending] Test it") == Todos(
        (Todo("in_progress", "Leave drafts out"), Todo("pending", "Test it")),
        "[in_progress] Leave drafts out [pending] Test it",
    )


@pytest.mark.requirement("RLOG-03")
def test_known_states() -> None:
    text = "[pending] a [in_progress] b [completed] c"
    assert [item.status for item in parse_todos(text).items] == ["pending", "in_progress", "completed"]


@pytest.mark.requirement("RLOG-03")
def test_other_state_is_kept_where_a_line_begins() -> None:
    assert parse_todos("[deferred] a [pending] fix [x] in b\n[waiting] c").items == (
        Todo("deferred", "a"),
        Todo("pending", "fix [x] in b"),
        Todo("waiting", "c"),
    )


def test_todos_without_a_state() -> None:
    assert event("td: buy milk") == Todos((), "buy milk")


@pytest.mark.requirement("ARGS-13")
def test_escaped_state_is_text() -> None:
    assert event(r"td: [pending] show \[completed] items", escaped=True) == Todos(
        (Todo("pending", "show [completed] items"),), "[pending] show [completed] items"
    )


@pytest.mark.requirement("ARGS-14")
def test_literal_backslash_n_stays() -> None:
    assert event(r"u: print(\n) in C:\new") == Message("user", r"print(\n) in C:\new")


@pytest.mark.requirement("ARGS-13")
def test_escapes_in_text() -> None:
    assert event(r"u: a\nb \→ c \\ id\=5", escaped=True) == Message("user", "a\nb → c \\ id=5")


def test_prose_kinds_cover_these_lines() -> None:
    assert [kind.value for kind in (Kind.USER, Kind.AGENT, Kind.THINKING, Kind.TODOS)] == [
        "user",
        "agent",
        "thinking",
        "todos",
    ]
