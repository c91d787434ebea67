"""Figures from answers and notes, against sums done by hand."""

from decimal import Decimal

import pytest

from blackbird.artifacts.note import Note, Spending
from blackbird.canon.model import Usage
from blackbird.stats.figures import Answers, Holdings, Lag, Packs, Tokens, Took, beyond, figures, quantile, took
from blackbird.timeline.timeline import Spent
from blackbird.usage import Use


def use(at: int = 1, op: str = "search", ms: float = 1.0, **facts: object) -> Use:
    return Use(**({"at": at, "door": "mcp", "op": op, "ms": ms} | facts))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "middle", "late"),
    [([], 0.0, 0.0), ([7.0], 7.0, 7.0), ([2.0, 1.0], 1.0, 2.0), ([float(n) for n in range(1, 101)], 50.0, 95.0)],
)
def test_quantiles_are_values_that_were_there(values: list[float], middle: float, late: float) -> None:
    assert (quantile(values, 0.5), quantile(values, 0.95)) == (middle, late)
    assert took(values) == Took(count=len(values), p50_ms=middle, p95_ms=late)


@pytest.mark.requirement("METRICS-05")
def test_answers_by_what_was_asked_and_by_door() -> None:
    uses = [use(ms=float(ms), tokens=ms * 10) for ms in range(1, 21)]
    uses += [use(at=5, op="get", ms=3.0, door="cli", tokens=90), use(op="get", ms=1.0, beyond=True)]
    found = figures(Lag(), Holdings(), uses, [])
    assert found.answers == (
        Answers(op="get", door="cli", took=Took(count=1, p50_ms=3.0, p95_ms=3.0), tokens_p50=90, tokens_p95=90),
        Answers(op="get", door="mcp", took=Took(count=1, p50_ms=1.0, p95_ms=1.0), beyond=1),
        Answers(
            op="search", door="mcp", took=Took(count=20, p50_ms=10.0, p95_ms=19.0), tokens_p50=100, tokens_p95=190
        ),
    )
    assert found.since == 1


def test_packs_by_how_they_came_about_and_their_sections() -> None:
    uses = [
        use(op="context", ms=120.0, sections={"decisions": 80, "goal": 20}),
        use(op="context", ms=140.0, sections={"decisions": 120}),
        use(op="context", ms=2.0, cached=True, sections={"decisions": 120}),
        use(op="search", ms=900.0),
    ]
    found = figures(Lag(), Holdings(), uses, []).packs
    assert found == Packs(
        built=Took(count=2, p50_ms=120.0, p95_ms=140.0),
        cached=Took(count=1, p50_ms=2.0, p95_ms=2.0),
        sections={"decisions": Tokens(packs=3, p50=120, p95=120), "goal": Tokens(packs=1, p50=20, p95=20)},
    )
    assert found.hits == pytest.approx(1 / 3)
    assert Packs().hits == 0.0


def test_what_a_run_asked_beyond_its_contract_is_counted_in_the_order_of_time() -> None:
    uses = [
        use(at=3, run="r1"),
        use(at=1, run="r1"),
        use(at=2, run="r2"),
        *(use(at=at, op="get", run="r1") for at in (4, 5, 6, 7)),
        use(at=8, op="related", run="r1"),
        use(at=9),
        use(at=10),
        use(at=11, op="context", beyond=True),
    ]
    # The second search of r1, its third and fourth get, and what a door said itself.
    assert beyond(uses) == {0, 5, 6, 10}


@pytest.mark.requirement("METRICS-07")
def test_what_was_spent_by_model_session_and_task() -> None:
    def share(task: str | None, model: str, count: int, usd: str | None) -> Spending:
        spent = Spent(
            usage=Usage(input=count, output=1),
            usd=Decimal(usd) if usd else None,
            unknown=() if usd else (model,),
            generations=1,
        )
        return Spending(task=task, run=f"run of {task}", model=model, spent=spent)

    old = Note(session="old", began=1, spent=(share("t1", "big", 10, "0.10"), share("t2", "big", 20, "0.20")))
    new = Note(
        session="new",
        began=2,
        spent=(share("t1", "dear", 1, "5"), share("t1", "own", 3, None), share(None, "own", 4, None)),
    )
    found = figures(Lag(), Holdings(), [], [old, new])
    told = [(bill.model, bill.spent.generations, bill.spent.usage.input, bill.spent.usd) for bill in found.by_model]
    assert told == [("dear", 1, 1, Decimal(5)), ("big", 2, 30, Decimal("0.30")), ("own", 2, 7, None)]
    assert [(bill.session, bill.spent.usage.input, bill.spent.unknown) for bill in found.by_session] == [
        ("new", 8, ("own",)),
        ("old", 30, ()),
    ]
    assert [(bill.session, bill.task, bill.spent.usage.input, bill.spent.usd) for bill in found.by_task] == [
        ("new", "t1", 4, Decimal(5)),
        ("old", "t1", 10, Decimal("0.10")),
        ("old", "t2", 20, Decimal("0.20")),
    ]
