"""Who had a line first: each thing that tells an original from a copy, alone, and in both directions."""

import pytest

from blackbird.canon.model import Evidence, Reply, Side
from blackbird.canon.seen import Entry
from blackbird.timeline import copies
from blackbird.timeline.copies import NOTHING, Account, Before, Line

PLACE = Evidence(source="src_1", side=Side.LINE, start=0, end=0)


def told(session: str, *names: str) -> list[Line]:
    """Lines such as `a1`: the id, and the time that it ends with; `-5` has no id, `-` and `b` no time."""
    found = []
    for name in names:
        key, digits = name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz-")
        found.append(Line(name if key != "-" else None, int(digits) if digits else None, session))
    return found


def first(one: Account, other: Account) -> list[str]:
    """The lines of one that were the other's first."""
    return sorted(key for key, _ in copies.before(one, [other], {}).lines)


PAIRS = [
    pytest.param(("a1", "a2"), ("a1", "a2", "c3"), id="it has nothing else"),
    pytest.param(("-1", "a1", "a2", "a9"), ("a1", "a2", "c3"), id="it has lines from then"),
    pytest.param(("a1", "b1", "a2", "a9"), ("a1", "a2", "c3"), id="it has what was not copied"),
    pytest.param(("a1", "-", "a2", "a9"), ("-", "a1", "a2", "-", "c3"), id="what has no time stands between"),
    pytest.param(("a1", "a2", "b3"), ("-5", "a1", "a2", "c6"), id="the copy has later lines before"),
    pytest.param(("a1", "a2", "b9"), ("a1", "a2", "c3"), id="it went on after the copy was made"),
    pytest.param(("a2", "a3", "a1"), ("a2", "a3", "c9"), id="it begins before what was copied"),
]


@pytest.mark.parametrize(("original", "copy"), PAIRS)
@pytest.mark.parametrize("names", [("m", "n"), ("n", "m")])
def test_the_lines_tell(original: tuple[str, ...], copy: tuple[str, ...], names: tuple[str, str]) -> None:
    one = Account(names[0], [told(names[0], *original)])
    other = Account(names[1], [told(names[1], *copy)])
    shared = sorted(set(original) & set(copy) - {"-"})
    assert first(one, other) == []
    assert first(other, one) == shared


def test_lines_that_name_the_other_session_are_copies() -> None:
    one = Account("n", [told("n", "a1", "c9")])
    other = Account("m", [[*told("n", "a1"), *told("m", "b3")]])
    assert (first(one, other), first(other, one)) == ([], ["a1"])


def test_lines_that_say_so_are_copies() -> None:
    one = Account("n", [told("n", "a1", "c3")])
    other = Account("m", [[told("m", "a1")[0]._replace(copied_from="x"), *told("m", "b9")]])
    assert (first(one, other), first(other, one)) == ([], ["a1"])


def test_the_one_whose_request_was_answered_was_first() -> None:
    answered = Line("a1", 1, "n", answer="msg_1", request="req_1")
    one = Account("n", [[answered, *told("n", "c3")]], sent={"req_1"})
    other = Account("m", [[answered, *told("m", "b9")]])
    assert (first(one, other), first(other, one)) == ([], ["a1"])


def test_if_nothing_tells_the_names_decide() -> None:
    one, other = Account("m", [told("m", "a1")]), Account("n", [told("n", "a1")])
    assert (first(one, other), first(other, one)) == ([], ["a1"])


def test_the_same_id_at_another_time_is_another_line() -> None:
    one = Account("n", [[Line("u1", 1, "n")]])
    other = Account("m", [[Line("u1", 2, "m")], [Line("u1", None, "m")]])
    assert (first(one, other), first(other, one)) == ([], [])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_a_copy_of_a_copy_each_line_is_whose_it_was(order: tuple[int, int]) -> None:
    above = [
        Account("x", [told("x", "-1", "a1", "a2")]),
        Account("y", [told("y", "-3", "a1", "a2", "b4")]),
    ]
    mine = Account("z", [told("z", "-6", "a1", "a2", "b4", "c7")])
    found = copies.before(mine, [above[at] for at in order], {})
    assert found.lines == {("a1", 1): "x", ("a2", 2): "x", ("b4", 4): "y"}


def test_what_stands_before_anothers_answer_was_copied_with_it() -> None:
    mine = Account("z", [[Line("u1", 1), Line("a2", 2, answer="m2"), Line("a4", 4, request="r4"), Line("u5", 5)]])
    found = copies.before(mine, [], {"m2": "x", "r4": "y", "r9": "x"})
    asked = [Entry(session="z", key=f"k{at}", at=at, evidence=PLACE) for at in range(1, 6)]
    assert [found.owner(entry) for entry in asked] == ["x", "x", "y", "y", None]
    assert found.owner(Entry(session="z", evidence=PLACE)) is None
    assert [found.owner(Entry(session="z", near=at, evidence=PLACE)) for at in (3, 5)] == ["y", None]


def test_an_answer_is_known_by_either_id() -> None:
    found = Before(answers={"m1": "x", "r1": "x"})
    assert found.owner(Entry(session="z", reply=Reply(response_id="m1"), evidence=PLACE)) == "x"
    assert found.owner(Entry(session="z", provider_request="r1", evidence=PLACE)) == "x"
    assert found.owner(Entry(session="z", reply=Reply(response_id="m2"), evidence=PLACE)) is None


def test_a_line_that_says_so_needs_no_other_log() -> None:
    assert NOTHING.owner(Entry(session="z", copied_from="x", evidence=PLACE)) == "x"
    assert NOTHING.owner(Entry(session="z", evidence=PLACE)) is None


def test_a_line_is_what_all_of_its_entries_say() -> None:
    entries = [
        Entry(session="z", mark="mode", evidence=PLACE),
        Entry(session="z", key="u1", at=3, reply=Reply(response_id="m1"), provider_request="r1", evidence=PLACE),
    ]
    assert copies.line_of(entries) == Line("u1", 3, "z", None, "m1", "r1")
    assert copies.line_of([]) == Line()
