"""The order of items, and what turns out about them later."""

from decimal import Decimal

import pytest

from blackbird.canon.model import (
    Amend,
    Call,
    Cost,
    Evidence,
    Generation,
    Mark,
    Outcome,
    Purpose,
    Result,
    Settings,
    Side,
    ToolCall,
    ToolResult,
    Usage,
)
from blackbird.timeline.order import settle

ONE = Evidence(source="req_1", side=Side.REQUEST, start=0, end=1)
TWO = Evidence(source="src_1", side=Side.LINE, start=0, end=1)


def mark(name: str, at: int | None, parent: str | None = None) -> Mark:
    return Mark(id=name, thread="main", at=at, parent=parent, kind="note", evidence=(ONE,))


def generation(name: str = "g", usage: Usage | None = None) -> Generation:
    return Generation(
        id=name,
        thread="main",
        at=5,
        evidence=(ONE,),
        purpose=Purpose.TURN,
        outcome=Outcome.COMPLETE,
        settings=Settings(),
        usage=usage,
    )


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([mark("b", 2), mark("a", 1)], "ab"),
        ([mark("b", 1), mark("a", 1)], "ba"),
        ([mark("a", None), mark("c", 9), mark("b", None, "a")], "abc"),
        ([mark("a", 1), mark("c", 2), mark("b", None, "a")], "abc"),
        ([mark("a", 3), mark("b", 1, "a"), mark("c", 4)], "abc"),
        ([mark("b", 2, "gone"), mark("a", None, "gone")], "ab"),
    ],
)
def test_order(items: list[Mark], expected: str) -> None:
    assert "".join(item.id for item in settle(items)) == expected


def test_an_answer_stands_before_what_came_out_of_it_at_the_same_moment() -> None:
    """What was said may have been known before the answer was."""
    said = [mark("a", 5), Mark(id="b", thread="main", at=5, generation="g", kind="note")]
    later = Mark(id="c", thread="main", at=4, generation="g", kind="note")
    assert [item.id for item in settle([*said, later, generation()])] == ["c", "a", "g", "b"]


def test_items_that_follow_each_other_are_all_there() -> None:
    assert {item.id for item in settle([mark("a", 1, "b"), mark("b", 2, "a")])} == {"a", "b"}


def test_a_long_chain_without_times_stays_in_order() -> None:
    chain = [mark(str(at), None, str(at - 1) if at else None) for at in range(5000)]
    assert [item.id for item in settle([*chain, mark("x", 1)])] == [*(str(at) for at in range(5000)), "x"]


def test_what_turned_out() -> None:
    called = Call(id="c", thread="main", at=1, call_id="call_x", call=ToolCall("read", None, {}), is_made_up=True)
    answered = Result(id="r", thread="main", at=2, call_id="call_x", result=ToolResult(None, "A", details={"a": 1}))
    cost = Cost(Decimal("0.5"), "list 1")
    items = settle(
        [
            called,
            answered,
            generation(),
            Amend(id="c", call_id="c1"),
            Amend(id="r", call_id="c1", details={"b": 2}, is_joined=True, evidence=(TWO,)),
            Amend(id="g", usage=Usage(input=3), cost=cost, provider_request="p", is_superseded=True, at=7),
            Amend(id="nobody", is_joined=True),
        ]
    )
    assert items[0] == Call(id="c", thread="main", at=1, call_id="c1", call=ToolCall("read", None, {}))
    second, third = items[1:]
    assert isinstance(second, Result)
    assert (second.call_id, second.result.details) == ("c1", {"a": 1, "b": 2})
    assert (second.is_joined, second.evidence) == (True, (TWO,))
    assert isinstance(third, Generation)
    assert (third.usage, third.cost, third.provider_request) == (Usage(input=3), cost, "p")
    assert (third.is_superseded, third.at) == (True, 7)


def test_an_item_that_is_handed_out_again_takes_the_place_of_the_first() -> None:
    first = Generation(
        id="g",
        thread="main",
        at=4,
        evidence=(TWO,),
        purpose=Purpose.TURN,
        outcome=Outcome.COMPLETE,
        settings=Settings(),
        usage=Usage(input=1),
    )
    (item,) = settle([first, generation(usage=Usage(input=2))])
    assert isinstance(item, Generation)
    assert (item.usage, item.evidence, item.is_joined, item.at) == (Usage(input=2), (ONE, TWO), True, 5)
