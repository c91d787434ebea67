"""Tokens and cost by step, message and session, and the budget."""

from decimal import Decimal

import pytest

from blackbox.events.comments import Budget as BudgetMark
from blackbox.events.comments import Metrics
from blackbox.events.messages import Message
from blackbox.session.session import Session
from blackbox.session.usage import Cost, Source, Tokens
from blackbox.syntax.results import Blob
from tests.blackbox.session.logs import FEATURE, IMPORT, NIGHT_SHIFT, read_session, session_of


@pytest.mark.requirement("VIEW-04", "METRIC-02")
def test_step_gathers_its_lines_and_metrics() -> None:
    session = session_of(
        "a: two step=2\nt:read a step=2 → [ok]\nu: three step=3\n"
        "# metrics step=2 prompt=10 cost=0.1\n# metrics step=2 completion=5 cost=0.2\no: id=1 → [ok]\n"
    )
    assert list(session.steps) == [2, 3]
    step = session.steps[2]
    assert [line.number for line in step.lines] == [1, 2, 4, 5]
    assert step.events[0] == Message("agent", "two")
    assert step.metrics == Metrics(step=2, prompt_tokens=10, completion_tokens=5, cost_usd=Decimal("0.3"))
    assert session.steps[3].metrics is None


@pytest.mark.requirement("METRIC-03")
def test_metrics_without_a_step_join_that_of_the_agent_line() -> None:
    session = session_of("a: x step=7\nt:read a → [ok]\n# metrics prompt=10\n")
    assert [line.number for line in session.steps[7].lines] == [1, 3]


def test_steps_are_in_order_of_number() -> None:
    session = session_of(
        "u: b step=9\nu: a step=2\n# metrics step=4 prompt=1\na: x step=1 # metrics step=5 prompt=1\n"
    )
    assert list(session.steps) == [1, 2, 4, 5, 9]
    assert [len(step.lines) for step in session.steps.values()] == [1, 1, 1, 0, 1]
    assert session.steps[5].metrics == Metrics(step=5, prompt_tokens=1)


def test_steps_of_the_night_shift() -> None:
    steps = read_session(NIGHT_SHIFT).steps
    assert list(steps) == list(range(1, 122))
    metrics = steps[56].metrics
    assert metrics is not None
    assert (metrics.prompt_tokens, metrics.cost_usd, metrics.extra) == (
        48730,
        Decimal("0.7509"),
        {"reasoning_tokens": "512"},
    )
    assert [line.number for line in steps[56].lines] == [381, 385, 386, 389]


def owners(session: Session) -> list[tuple[int, int | None, int | None]]:
    return [(one.line.number, one.owner.number if one.owner else None, one.step) for one in session.measured]


@pytest.mark.requirement("METRIC-01", "METRIC-02", "METRIC-03", "METRIC-04")
def test_metrics_find_their_step_and_agent_line() -> None:
    session = session_of(
        "a: one step=3 # metrics prompt=520 completion=80 cached=200 cost=0.00045\n"
        "a: two step=4\n"
        "# metrics prompt_tokens=10 completion_tokens=1\n"
        "a: three\n"
        "# metrics step=4 cost_usd=0.5\n"
        "# metrics prompt=7\n"
    )
    assert owners(session) == [(1, 1, 3), (3, 2, 4), (5, None, 4), (6, 4, None)]
    assert session.measured[0].metrics == Metrics(
        prompt_tokens=520, completion_tokens=80, cached_tokens=200, cost_usd=Decimal("0.00045")
    )


@pytest.mark.requirement("VIEW-04")
def test_totals_are_exact_sums() -> None:
    lines = [f"# metrics step={n} prompt=1{n} completion={n} cached=1 cost=0.{n:015}\n" for n in range(1, 8)]
    session = session_of("# metrics step=0 cost=$999999999999999.1\n" + "".join(lines))
    assert session.tokens == Tokens(Source.METRICS, 98 + 28, 98, 28, 7)
    assert session.cost == Cost(Source.METRICS, Decimal("999999999999999.100000000000028"))


def test_metrics_stated_twice_count_once() -> None:
    session = session_of(
        "a: x step=3 # metrics prompt=520 cost=0.1\n"
        "# metrics step=3 prompt_tokens=520 cost_usd=0.1\n"
        "# metrics step=3 prompt_tokens=521 cost_usd=0.1\n"
        "# metrics step=4 prompt_tokens=520 cost_usd=0.1\n"
    )
    assert [one.is_repeat for one in session.measured] == [False, True, False, False]
    assert session.tokens == Tokens(Source.METRICS, 1561, 1561)
    assert session.cost == Cost(Source.METRICS, Decimal("0.3"))


@pytest.mark.requirement("METRIC-06", "METRIC-07")
def test_blobs_and_extras_of_a_step_are_kept() -> None:
    session = session_of(
        "# metrics step=3 prompt=1 extra.reasoning_tokens=12\n"
        "# metrics step=3 completion_token_ids=@blob sha256=ab12 logprobs=@blob sha256=cd34 bytes=7\n"
    )
    metrics = session.steps[3].metrics
    assert metrics is not None
    assert metrics.completion_token_ids == Blob("ab12")
    assert metrics.logprobs == Blob("cd34", 7)
    assert metrics.extra == {"reasoning_tokens": "12"}
    assert metrics.prompt_tokens == 1


def test_tokens_of_a_message_are_counted_once() -> None:
    session = session_of(
        "th: hm sig=E tokens_in=9 tokens_out=3 tokens_cached=100\n"
        "a: reading tokens_in=9 tokens_out=3 tokens_cached=100\n"
        "t!:Read id=1 file_path=a → [running] tokens_in=9 tokens_out=141 tokens_cached=100\n"
        "o: id=1 → [ok]\n"
        "t!:Read id=2 file_path=b → [running] tokens_in=9 tokens_out=5 tokens_cached=200\n"
    )
    assert [(len(one.lines), one.tokens_in, one.tokens_out) for one in session.messages_spent] == [
        (3, 9, 141),
        (1, 9, 5),
    ]
    assert session.tokens == Tokens(Source.MESSAGES, 164, 18, 146, 300)


def test_messages_with_ids_of_their_own_are_two() -> None:
    body = "a: x id=m1 tokens_in=5 tokens_out=1\na: y id=m2 tokens_in=5 tokens_out=1\n"
    assert session_of(body).tokens == Tokens(Source.MESSAGES, 12, 10, 2, 0)


def test_what_the_log_says_last_goes_before_sums() -> None:
    body = "# metrics step=1 prompt=900 cost=9\n@checkpoint tokens=50 cost=$1\n# budget: $5 remaining=$3 tokens=60\n"
    assert session_of(body).cost == Cost(Source.METRICS, Decimal(9))
    closing = "# tokens=80 cost=$2.50\n"
    assert session_of(body + closing).tokens == Tokens(Source.CLOSING, 80)
    session = session_of(f"{body}@end tokens_in=70 tokens_out=1 cost_usd=0.0330\n{closing}")
    assert session.tokens == Tokens(Source.END, 71, 70, 1)
    assert session.cost == Cost(Source.END, Decimal("0.0330"))
    assert {source.value: tokens.total for source, tokens in session.token_totals.items()} == {
        "end": 71,
        "closing": 80,
        "metrics": 900,
        "checkpoint": 50,
        "budget": 60,
    }
    assert {source.value: str(cost.amount) for source, cost in session.cost_totals.items()} == {
        "end": "0.0330",
        "closing": "2.50",
        "metrics": "9",
        "checkpoint": "1",
        "budget": "2",
    }


def test_largest_of_sums_and_marks_counts_while_the_session_runs() -> None:
    session = session_of("# metrics step=1 prompt=10 cost=0.1\n# budget: $5 remaining=$3 tokens=60\n")
    assert (session.tokens, session.cost) == (Tokens(Source.BUDGET, 60), Cost(Source.BUDGET, Decimal(2)))


def test_header_of_an_importer_that_knows_nothing_is_no_total() -> None:
    assert session_of("u: x\n", tokens_total_in="0", tokens_total_out="0").tokens is None
    assert session_of("u: x\n", tokens_total_in="7", tokens_total_out="2", tokens_cached="5").tokens == Tokens(
        Source.HEADER, 9, 7, 2, 5
    )


def test_log_that_says_nothing() -> None:
    session = session_of("u: x\n")
    assert (session.tokens, session.cost, session.measured) == (None, None, ())


@pytest.mark.requirement("VIEW-04")
def test_totals_of_the_examples() -> None:
    session = read_session(NIGHT_SHIFT)
    assert session.tokens == Tokens(Source.END, 5318240)
    assert session.cost == Cost(Source.END, Decimal("21.46"))
    assert session.token_totals[Source.METRICS] == Tokens(Source.METRICS, 767488, 762880, 4608, 657100)
    assert session.cost_totals[Source.METRICS].amount == Decimal("1.7677")
    totals = read_session(IMPORT).token_totals
    assert totals[Source.MESSAGES] == Tokens(Source.MESSAGES, 5608, 4216, 1392, 88350)
    assert totals[Source.HEADER] == Tokens(Source.HEADER, 5608, 4216, 1392, 88350)


@pytest.mark.requirement("VIEW-06", "METRIC-08")
def test_course_of_the_budget() -> None:
    session = session_of("# budget: $50.00 remaining=$47.23 tokens=12847\nu: x\n# budget: $50.00 remaining=$40\n")
    assert [(mark.line.number, mark.value) for mark in session.budget.marks] == [
        (1, BudgetMark(Decimal("50.00"), Decimal("47.23"), 12847)),
        (3, BudgetMark(Decimal("50.00"), Decimal(40), None)),
    ]
    assert session.budget.total == Decimal("50.00")
    assert session.budget.spent == Cost(Source.BUDGET, Decimal("10.00"))
    assert session.budget.remaining == Decimal("40.00")


@pytest.mark.parametrize(
    ("body", "total"),
    [("u: x\n", 50), ("@start budget=$60\n", 60), ("@start budget=$60\n# budget: $70 remaining=$1\n", 70)],
)
def test_last_total_stated_counts(body: str, total: int) -> None:
    assert session_of(body, budget="$50").budget.total == total


def test_overrun() -> None:
    budget = session_of("@end cost=$7.25\n", budget="$5").budget
    assert (budget.remaining, budget.overrun) == (Decimal("-2.25"), Decimal("2.25"))
    assert session_of("@end cost=$5\n", budget="$5").budget.overrun == 0


def test_unknown_budget() -> None:
    budget = session_of("@end cost=$7.25\n").budget
    assert (budget.total, budget.remaining, budget.marks) == (None, None, ())
    assert budget.overrun == 0
    assert session_of("# budget: remaining=$3\n").budget.remaining == 3


def test_budgets_of_the_examples() -> None:
    budget = read_session(NIGHT_SHIFT).budget
    assert (budget.total, budget.remaining, len(budget.marks)) == (Decimal(50), Decimal("28.54"), 9)
    assert read_session(FEATURE).budget.remaining == Decimal("4.38")
