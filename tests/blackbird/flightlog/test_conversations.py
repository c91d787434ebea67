"""Where another conversation begins, or a branch of one."""

import msgspec
import pytest

from blackbird.canon.model import Item, Origin, Thinking, Thread
from blackbird.flightlog import replay
from blackbird.flightlog.conversations import Conversations
from blackbird.flightlog.replay import Wish
from tests.blackbird.flightlog.sessions import MAIN, agent, call, mark, result, timeline, user

FORK = Thread(id="f1", native="f-native", parent="main", kind="fork")
OTHER = Thread(id="o1", native="o-native")
SUB = Thread(id="sub", parent="main", call_id="c1", kind="Explore")
BELOW = Thread(id="below", parent="f1", kind="sub-agent")
TALK: list[Item] = [user("m1", "Mend it."), agent("m2", "Mended.", parent="m1")]


def told(*items: Item, threads: tuple[Thread, ...] = (MAIN,)) -> list[tuple[str, str]]:
    """What is said before which item."""
    conversations = Conversations(threads, items)
    turns = [(item.id, conversations.turn(item)) for item in items]
    return [(name, text) for name, text in turns if text is not None]


def test_what_simply_follows_needs_no_word() -> None:
    calls = [call("c1", "Task", parent="m2"), call("c2", "Read", parent="it_c1")]
    sub = [user("s1", "Look.", thread="sub"), agent("s2", "I looked.", thread="sub", parent="s1")]
    results = [result("c2", "b", parent="it_c2"), result("c1", "a", parent="it_c2_result")]
    end = agent("m3", "Done.", parent="it_c1_result")
    assert told(*TALK, *calls, *sub, *results, end, threads=(MAIN, SUB)) == []


def test_a_session_that_goes_on_from_another_is_a_branch() -> None:
    fork = [user("m3", "Again?", thread="f1", parent="m2"), agent("m4", "Yes.", thread="f1", parent="m3")]
    on = user("m5", "Thanks.", parent="m2")
    assert told(*TALK, *fork, on, threads=(MAIN, FORK)) == [
        ("m3", "a branch begins, f-native: it goes on from “Mended.”"),
        ("m5", "back in the conversation main"),
    ]


def test_another_conversation() -> None:
    other = [user("m3", "Something else.", thread="o1"), agent("m4", "Yes.", thread="o1", parent="m3")]
    on = user("m5", "Thanks.", parent="m2")
    assert told(*TALK, *other, on, threads=(MAIN, OTHER)) == [
        ("m3", "another conversation begins, o-native"),
        ("m5", "back in the conversation main"),
    ]


def test_another_way_within_one_thread() -> None:
    aside = user("w1", "Be kind.", origin=Origin.CLIENT, parent="m2")
    left, right = user("m3", "Left.", parent="m2"), user("m5", "Right.", parent="w1")
    assert told(*TALK, left, aside, right) == [("m5", "a branch begins: it goes on from “Mended.”")]


def test_a_thread_that_begins_anew() -> None:
    assert told(*TALK, user("m3", "Something else.")) == [("m3", "another conversation begins")]


def test_what_was_tried_again_is_no_branch() -> None:
    first = agent("m2", "Men", parent="m1", is_superseded=True)
    thought = agent("m3", Thinking("Hm"), parent="m1")
    assert told(user("m1", "Mend it."), first, thought, agent("m4", "Mended.", parent="m3")) == []


def test_a_summary_goes_on_from_what_it_stands_for() -> None:
    compact = msgspec.structs.replace(mark("k1", "compact"), parent="m2")
    summary = user("m3", "It was mended.", origin=Origin.SUMMARY, parent="k1")
    assert told(*TALK, compact, summary, user("m4", "On.", parent="m3")) == []


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (user("m3", "x" * 70, parent="m2"), f"“{'x' * 59}…”"),
        (call("c1", "Read", parent="m2"), "the call of Read"),
        (result("c1", "text", parent="m2"), "a result"),
    ],
)
def test_where_it_goes_on_is_told_in_a_few_words(before: Item, words: str) -> None:
    ways = [agent(name, "Hm.", parent=before.id) for name in ("m8", "m9")]
    assert told(*TALK, before, *ways) == [("m9", f"a branch begins: it goes on from {words}")]


def test_only_sub_agents_are_deeper() -> None:
    conversations = Conversations(
        (MAIN, FORK, OTHER, SUB, BELOW, Thread(id="a", parent="b"), Thread(id="b", parent="a")), ()
    )
    names = ("main", "f1", "o1", "sub", "below", "nobody", "a")
    assert [conversations.depth(name) for name in names] == [0, 0, 0, 1, 1, 0, 1]


def test_threads_in_a_circle_have_an_end() -> None:
    circle = (Thread(id="a", parent="b"), Thread(id="b", parent="a"))
    said = [user("m1", "Hi.", thread="a"), user("m2", "Ho.", thread="b", parent="m1")]
    assert told(*said, threads=circle) == [("m2", "a branch begins, a: it goes on from “Hi.”")]


def test_the_replay_says_so() -> None:
    fork = user("m3", "Again?", 2, thread="f1", parent="m2")
    made = timeline(*TALK, fork, threads=(MAIN, FORK))
    rows = [(row.kind, row.since, row.depth, row.text) for row in replay.rows(made, Wish())]
    assert rows[2:] == [
        ("turn", 2.0, 0, "a branch begins, f-native: it goes on from “Mended.”"),
        ("user", 2.0, 0, "user"),
    ]
    assert [row.kind for row in replay.rows(made, Wish(thread="f1"))] == ["user"]
