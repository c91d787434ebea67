"""The `@` primitives with their typed fields."""

from decimal import Decimal

import pytest

from blackbox.events.lifecycle import (
    Assess,
    Batch,
    Checkpoint,
    Compact,
    End,
    Escalate,
    Init,
    Lifecycle,
    Notify,
    Other,
    Pause,
    Phase,
    Primitive,
    Resume,
    Rotate,
    Snapshot,
    Start,
    Wait,
)
from tests.blackbox.events.entry import entry


def lifecycle(text: str) -> Lifecycle:
    found = entry(text).event
    assert isinstance(found, Lifecycle)
    return found


def primitive(text: str) -> Primitive:
    return lifecycle(text).primitive


@pytest.mark.requirement("LIFE-01")
def test_start() -> None:
    assert primitive("@start id=sess_9 budget=$50 duration=12h step=1") == Start("sess_9", Decimal(50), 43200.0)


@pytest.mark.requirement("LIFE-02")
def test_checkpoint() -> None:
    assert primitive("@checkpoint hour=4 tokens=45000 cost=$12.30") == Checkpoint(Decimal(4), 45000, Decimal("12.30"))


@pytest.mark.requirement("LIFE-03")
def test_pause() -> None:
    assert primitive('@pause reason="CI is down"') == Pause("CI is down")


def test_resume() -> None:
    assert primitive("@resume") == Resume()


@pytest.mark.requirement("LIFE-05")
def test_end() -> None:
    assert primitive('@end summary="two merged" prs=[201,202] issues=8 cost=$0.62') == End(
        "two merged", ("201", "202"), 8, cost=Decimal("0.62")
    )


@pytest.mark.requirement("LIFE-06")
def test_end_with_token_totals() -> None:
    assert primitive("@end tokens_in=4216 tokens_out=1392") == End(tokens_in=4216, tokens_out=1392)


@pytest.mark.requirement("LIFE-07")
def test_assess() -> None:
    assert primitive("@assess → P0: fix the queue, again, P1: mails\n  P2: docs") == Assess(
        (("P0", "fix the queue, again"), ("P1", "mails"), ("P2", "docs"))
    )


def test_assess_without_ranks() -> None:
    assert primitive("@assess → nothing urgent") == Assess()


@pytest.mark.requirement("LIFE-08")
def test_notify() -> None:
    assert primitive('@notify "#74 is ready"') == Notify("#74 is ready")


@pytest.mark.requirement("LIFE-09")
def test_wait_for_approval() -> None:
    found = lifecycle("@wait-approval pr=47 timeout=2h → approved")
    assert found.primitive == Wait("approval", 7200.0, "approved")
    assert found.arguments.keyword["pr"] == "47"


@pytest.mark.requirement("LIFE-10", "PREFIX-15")
def test_bare_wait() -> None:
    assert primitive("@wait") == Wait()


@pytest.mark.requirement("LIFE-11")
def test_escalate() -> None:
    assert primitive('@escalate "the migration needs a human"') == Escalate("the migration needs a human")


@pytest.mark.requirement("LIFE-12")
def test_batch() -> None:
    assert primitive('@batch [issue-58, issue-71] reason="same cause"') == Batch(
        ("issue-58", "issue-71"), "same cause"
    )


@pytest.mark.requirement("LIFE-13")
def test_snapshot() -> None:
    assert primitive('@snapshot id=after_pr "opened, tests pass"') == Snapshot("after_pr", "opened, tests pass")


@pytest.mark.requirement("LIFE-14")
def test_rotate() -> None:
    assert primitive("@rotate file=audit.part2.bbox") == Rotate("audit.part2.bbox")


@pytest.mark.requirement("LIFE-15")
def test_compact() -> None:
    assert primitive('@compact reason="window full" tokens_before=180000 tokens_after=8000') == Compact(
        "window full", 180000, 8000
    )
    assert primitive("@compact") == Compact()


@pytest.mark.requirement("PREFIX-16", "PLANMODE-03")
@pytest.mark.parametrize("name", ["explore", "design", "review", "final", "exit", "celebrate"])
def test_phase(name: str) -> None:
    line = entry(f"@phase {name}")
    assert line.kind.value == "phase"
    assert primitive(f"@phase {name}") == Phase(name)


@pytest.mark.requirement("PLANMODE-04")
def test_phase_exit() -> None:
    assert primitive("@phase exit approved=true swarm=false teammates=3") == Phase("exit", True, False, 3)


@pytest.mark.requirement("LIFE-16")
def test_unknown_primitive_keeps_its_arguments() -> None:
    found = lifecycle('@teleport to=home "at once" → done # why not')
    assert found.primitive == Other("teleport")
    assert (found.arguments.positional, found.arguments.keyword) == (("at once",), {"to": "home"})
    assert found.result is not None
    assert (found.result.text, found.comment) == ("done", "why not")


@pytest.mark.requirement("LIFE-16")
def test_init() -> None:
    assert primitive("@init model=gannet-3") == Init("gannet-3")


@pytest.mark.requirement("PREFIX-15")
def test_dashed_word_is_one_primitive() -> None:
    assert [lifecycle(text).name for text in ("@wait-approval", "@wait-ci x", "@hand-over")] == [
        "wait-approval",
        "wait-ci",
        "hand-over",
    ]


@pytest.mark.requirement("LIFE-17")
@pytest.mark.parametrize("name", ["start", "checkpoint", "pause", "end", "phase exit", "teleport"])
def test_any_primitive_may_carry_metadata(name: str) -> None:
    meta = entry(f"@{name} step=7 ts=2026-01-02T03:04:05Z extra.a=b").meta
    assert (meta.step, meta.extra) == (7, {"a": "b"})
    assert meta.ts is not None


@pytest.mark.requirement("API-07")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@start budget=lots duration=long", Start()),
        ("@checkpoint hour=x tokens=-1 cost=free", Checkpoint()),
        ("@end prs=201 issues=many", End(prs=("201",))),
        ("@phase", Phase()),
        ("@batch", Batch()),
    ],
)
def test_values_that_do_not_fit_are_left_out(text: str, expected: Primitive) -> None:
    assert primitive(text) == expected
