"""Which conversation a request belongs to: by the client's ids, else by its history; and which call started it."""

import pytest

from blackbird.canon.model import Generation, Outcome, Purpose, Thread
from blackbird.sessions.links import Links
from tests.blackbird.timeline.weaving.talk import NO_IDS, SUMMARY, Talk, agent, call, failing, result, saying, user

ASKED = user("Fix it")
PROMPT = "Read calc.py and report what it does."
SPAWN = call("agent", "c1", kind="reader", prompt=PROMPT)


@pytest.mark.parametrize(
    "links",
    [
        Links(session="s1", thread="t2", parent="s1", kind="sub-agent"),
        Links(session="s2", thread="s2", parent="s1", parent_session="s1", kind="sub-agent"),
    ],
)
def test_a_sub_agent_by_its_ids(links: Links) -> None:
    talk = Talk()
    talk.ask([ASKED], saying(SPAWN))
    talk.ask([user(PROMPT)], saying("It adds."), links=links, purpose=Purpose.SUBAGENT)
    talk.ask([ASKED, agent(SPAWN), user(result("c1", "It adds."))], saying("Done."))
    name = links.thread
    assert talk.short() == [
        "user: Fix it",
        "call c1 agent",
        f"{name}| user: {PROMPT[:24]}",
        f"{name}| agent: It adds.",
        "result c1 It adds.",
        "agent: Done.",
    ]
    assert talk.weaver.threads == (
        Thread(id="main", native="s1"),
        Thread(id=name or "", native=name, parent="main", call_id="c1", kind="sub-agent"),
    )


def test_a_sub_agent_whose_call_returned_at_once() -> None:
    talk = Talk()
    talk.ask([ASKED], saying(SPAWN))
    talk.ask([ASKED, agent(SPAWN), user(result("c1", "started"))], saying("Waiting."))
    talk.ask([user(PROMPT)], saying("It adds."), links=Links(session="s1", thread="t2", parent="s1", kind="spawn"))
    assert talk.weaver.threads[1] == Thread(id="t2", native="t2", parent="main", call_id="c1", kind="spawn")


def test_a_sub_agent_of_a_sub_agent_where_ids_are_flat() -> None:
    def flat(thread: str) -> Links:
        return Links(session="s1", thread=thread, parent="s1", kind="sub-agent")

    talk = Talk()
    talk.ask([ASKED], saying(SPAWN))
    talk.ask([user(PROMPT)], saying(call("agent", "c2", prompt="Look into test_calc.py")), links=flat("a1"))
    talk.ask([user("Look into test_calc.py")], saying("Fine."), links=flat("a2"))
    assert [(one.id, one.parent, one.call_id) for one in talk.weaver.threads] == [
        ("main", None, None),
        ("a1", "main", "c1"),
        ("a2", "a1", "c2"),
    ]


def test_parallel_sub_agents_with_the_same_words() -> None:
    talk = Talk()
    talk.ask([ASKED], saying(SPAWN, call("agent", "c2", prompt=PROMPT)))
    for name in ("a1", "a2"):
        links = Links(session="s1", thread=name, parent="s1", kind="sub-agent")
        talk.ask([user(PROMPT)], saying("It adds."), links=links)
    assert talk.short()[3:] == [
        f"a1| user: {PROMPT[:24]}",
        "a1| agent: It adds.",
        f"a2| user: {PROMPT[:24]}",
        "a2| agent: It adds.",
    ]
    assert [(one.id, one.call_id) for one in talk.weaver.threads[1:]] == [("a1", "c1"), ("a2", "c2")]


@pytest.mark.requirement("CANON-13")
def test_without_ids_requests_are_chained_by_history_and_marked_inferred() -> None:
    talk = Talk()
    talk.ask([ASKED], saying(SPAWN, call("agent", "c2", prompt=PROMPT)), links=NO_IDS)
    talk.ask([user(PROMPT)], failing(Outcome.CUT), links=NO_IDS)
    talk.ask([user(PROMPT)], saying(call("read", "r1")), links=NO_IDS)
    talk.ask([user(PROMPT)], saying(call("read", "r2")), links=NO_IDS)
    talk.ask([user(PROMPT), agent(call("read", "r1")), user(result("r1"))], saying("One."), links=NO_IDS)
    talk.ask([user(PROMPT), agent(call("read", "r2")), user(result("r2"))], saying("Two."), links=NO_IDS)
    both = [result("c1", "One."), result("c2", "Two.")]
    talk.ask([ASKED, agent(SPAWN, call("agent", "c2", prompt=PROMPT)), user(*both)], saying("Done."), links=NO_IDS)
    main, first, second = talk.weaver.threads
    assert main == Thread(id="main", is_inferred=True)
    assert (first.parent, first.call_id, first.is_inferred) == ("main", "c1", True)
    assert (second.parent, second.call_id, second.is_inferred) == ("main", "c2", True)
    assert talk.short() == [
        "user: Fix it",
        "call c1 agent",
        "call c2 agent",
        f"{first.id}| user: {PROMPT[:24]}",
        f"{first.id}| call r1 read",
        f"{second.id}| user: {PROMPT[:24]}",
        f"{second.id}| call r2 read",
        f"{first.id}| result r1 done",
        f"{first.id}| agent: One.",
        f"{second.id}| result r2 done",
        f"{second.id}| agent: Two.",
        "result c1 One.",
        "result c2 Two.",
        "agent: Done.",
    ]


def _purposes(talk: Talk) -> list[tuple[str, Purpose]]:
    """Which thread each generation belongs to, and what it was for."""
    return [(item.thread, item.purpose) for item in talk.items if isinstance(item, Generation)]


def test_what_an_inferred_sub_agent_asks_is_no_turn_of_the_agents() -> None:
    talk = Talk()
    echo = [user(PROMPT), agent(call("read", "r1")), user(result("r1"))]
    talk.ask([ASKED], saying(SPAWN), links=NO_IDS)
    talk.ask([user(PROMPT)], saying(call("read", "r1")), links=NO_IDS)
    talk.ask(echo, saying("It adds."), links=NO_IDS)
    talk.ask([user("A title, please")], saying("Adding"), links=NO_IDS, purpose=Purpose.TITLE)
    talk.ask([ASKED, agent(SPAWN), user(result("c1", "It adds."))], saying("Done."), links=NO_IDS)
    name = talk.weaver.threads[1].id
    assert _purposes(talk) == [
        ("main", Purpose.TURN),
        (name, Purpose.SUBAGENT),
        (name, Purpose.SUBAGENT),
        (name, Purpose.TITLE),
        ("main", Purpose.TURN),
    ]


@pytest.mark.parametrize("is_logged", [False, True])
def test_what_a_fork_asks_is_a_turn(*, is_logged: bool) -> None:
    talk = Talk()
    if is_logged:
        talk.log(ASKED, key="u1")
        talk.log(agent("One."), key="u2", follows="u1", reply=saying(response_id="r1"))
        talk.log(user("On"), session="s2", key="u3", follows="u2")
        talk.log(agent("Two."), session="s2", key="u4", follows="u3", reply=saying(response_id="r2"))
    else:
        talk.ask([ASKED], saying("One."))
        talk.ask([ASKED, agent("One."), user("On")], saying("Two."), links=Links(session="s2", thread="s2"))
    assert talk.weaver.threads[1] == Thread(id="s2", native="s2", parent="main", kind="fork")
    assert _purposes(talk) == [("main", Purpose.TURN), ("s2", Purpose.TURN)]


@pytest.mark.requirement("CANON-13")
def test_without_ids_another_run_with_the_same_words_is_another_conversation() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."), links=NO_IDS, run="run_1")
    talk.ask([ASKED], saying("Two."), links=NO_IDS, run="run_2")
    talk.ask([ASKED, agent("Two."), user("On")], saying("Three."), links=NO_IDS, run="run_2")
    talk.ask([ASKED, agent("One."), user("Resumed")], saying("Four."), links=NO_IDS, run="run_3")
    assert talk.short() == [
        "user: Fix it",
        "agent: One.",
        "user: Fix it",
        "agent: Two.",
        "user: On",
        "agent: Three.",
        "user: Resumed",
        "agent: Four.",
    ]
    assert talk.parents()["user: Resumed"] == "agent: One."


def test_a_fork_goes_on_from_what_is_known() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."))
    history = [ASKED, agent("One."), user("On")]
    talk.ask(history, saying("Two."), links=Links(session="s2", thread="s2"))
    talk.ask([*history, agent("Two."), user("More")], saying("Three."), links=Links(session="s2", thread="s2"))
    assert talk.short() == [
        "user: Fix it",
        "agent: One.",
        "s2| user: On",
        "s2| agent: Two.",
        "s2| user: More",
        "s2| agent: Three.",
    ]
    assert talk.parents()["s2| user: On"] == "agent: One."
    assert talk.weaver.threads[1] == Thread(id="s2", native="s2", parent="main", kind="fork")


def test_a_new_conversation_in_the_same_thread() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."))
    talk.ask([user("Something else")], saying("Two."))
    talk.ask([user("Something else"), agent("Two."), user("On")], saying("Three."))
    assert talk.parents() == {
        "user: Fix it": None,
        "agent: One.": "user: Fix it",
        "user: Something else": None,
        "agent: Two.": "user: Something else",
        "user: On": "agent: Two.",
        "agent: Three.": "user: On",
    }
    assert [thread.id for thread in talk.weaver.threads] == ["main"]


HISTORY = [ASKED, agent("I read.", call("read", "c1")), user(result("c1")), agent("It is done."), user("Go on")]
KEPT = {
    "nothing": [],
    "the end": [agent("It is done."), user("Go on"), agent("I went.")],
    "the last word": [agent("I went.")],
}


@pytest.mark.parametrize("kept", KEPT)
def test_a_compaction(kept: str) -> None:
    talk = Talk()
    talk.ask([ASKED], saying("I read.", call("read", "c1")))
    talk.ask(HISTORY[:3], saying("It is done."))
    talk.ask(HISTORY, saying("I went."))
    history = [user(SUMMARY), *KEPT[kept], user("And now?")]
    talk.ask(history, saying("More."))
    talk.ask([*history, agent("More."), user("Bye")], saying("Bye."))
    assert talk.short()[6:] == [
        "agent: I went.",
        "mark compact",
        f"summary: {SUMMARY[:24]}",
        "user: And now?",
        "agent: More.",
        "user: Bye",
        "agent: Bye.",
    ]
    parents = talk.parents()
    assert parents["mark compact"] == "agent: I went."
    assert parents[f"summary: {SUMMARY[:24]}"] == "mark compact"
    assert parents["user: And now?"] == f"summary: {SUMMARY[:24]}"


def test_a_compaction_that_keeps_the_users_words_before_the_summary() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."))
    talk.ask([ASKED, agent("One."), user("On")], saying("Two."))
    history = [ASKED, user("On"), user(SUMMARY)]
    talk.ask(history, saying("Three."))
    talk.ask([*history, agent("Three."), user("On")], saying("Four."))
    assert talk.short() == [
        "user: Fix it",
        "agent: One.",
        "user: On",
        "agent: Two.",
        "mark compact",
        f"summary: {SUMMARY[:24]}",
        "agent: Three.",
        "user: On",
        "agent: Four.",
    ]


def test_a_recording_that_begins_behind_a_compaction() -> None:
    talk = Talk()
    talk.ask([user(SUMMARY), user("Go")], saying("Gone."))
    talk.ask([user(SUMMARY), user("Go"), agent("Gone."), user("Bye")], saying("Bye."))
    assert talk.short() == [f"summary: {SUMMARY[:24]}", "user: Go", "agent: Gone.", "user: Bye", "agent: Bye."]


def test_words_behind_a_summary_in_one_text_come_behind_it() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."))
    talk.ask([user(SUMMARY, "Go")], saying("Gone."))
    assert talk.short()[2:] == ["mark compact", f"summary: {SUMMARY[:24]}", "user: Go", "agent: Gone."]
