"""Agents' own logs: alone they give the timeline, beside the wire they join it, in whichever order they come."""

from collections.abc import Callable

import pytest

from blackbird.canon.model import Generation, Origin, Outcome, Reply, Result, Thread, Usage
from tests.blackbird.timeline.weaving.talk import (
    NO_IDS,
    SUMMARY,
    Talk,
    agent,
    call,
    failing,
    result,
    saying,
    think,
    user,
)

ASKED = user("Fix it")
PROMPT = "Read calc.py and report what it does."
USAGE = Usage(input=10, output=5)
TOLD = Reply(response_id="r1", model="m-1", usage=USAGE)


def wire(talk: Talk) -> None:
    talk.ask(
        [ASKED], saying(think("hm"), "I read.", call("read", "c1"), call("list", "c2"), response_id="r1", usage=USAGE)
    )
    talk.ask(
        [ASKED, agent("I read.", call("read", "c1"), call("list", "c2")), user(result("c1", "A"), result("c2", "B"))],
        saying("Done.", response_id="r2", usage=USAGE),
    )


def log(talk: Talk) -> None:
    """One answer stands on several lines, each with its usage; the results hang on their calls."""
    talk.log(ASKED, key="u1")
    talk.log(agent(think("hm")), key="u2", follows="u1", reply=TOLD)
    talk.log(agent("I read."), key="u3", follows="u2", reply=TOLD)
    talk.log(agent(call("read", "c1", all=False)), key="u4", follows="u3", reply=TOLD)
    talk.log(agent(call("list", "c2")), key="u5", follows="u4", reply=TOLD)
    talk.log(user(result("c2", "B")), key="u6", follows="u5")
    talk.log(user(result("c1", "A", details={"exit_code": 0})), key="u7", follows="u4")
    talk.log(None, key="u8", follows="u7", mark="note", data={"hook": 1})
    talk.log(agent("Done."), key="u9", follows="u8", reply=Reply(response_id="r2", model="m-1", usage=USAGE))


def test_a_log_alone() -> None:
    talk = Talk()
    log(talk)
    assert talk.short(generations=True) == [
        "user: Fix it",
        "turn complete 1",
        "thought: hm",
        "agent: I read.",
        "call c1 read",
        "call c2 list",
        "result c2 B",
        "result c1 A",
        "mark note",
        "turn complete 1",
        "agent: Done.",
    ]
    parents = talk.parents()
    assert (parents["agent: I read."], parents["result c1 A"]) == ("thought: hm", "result c2 B")
    assert parents["agent: Done."] == "result c1 A"
    assert talk.usage() == USAGE + USAGE
    assert talk.weaver.threads == (Thread(id="main", native="s1"),)


@pytest.mark.requirement("CANON-10", "CANON-15")
@pytest.mark.parametrize("order", [(wire, log), (log, wire)])
def test_the_wire_and_the_log_of_one_run_are_one(order: tuple[Callable[[Talk], None], ...]) -> None:
    talk = Talk()
    for feed in order:
        feed(talk)
    found = [line for line in sorted(talk.short(generations=True)) if line != "mark note"]
    assert found == [
        "agent: Done. joined",
        "agent: I read. joined",
        "call c1 read joined",
        "call c2 list joined",
        "result c1 A joined",
        "result c2 B joined",
        "thought: hm joined",
        "turn complete 1 joined",
        "turn complete 1 joined",
        "user: Fix it joined",
    ]
    assert talk.usage() == USAGE + USAGE
    assert all(len(item.evidence) == 2 for item in talk.items if item.is_joined)
    detailed = next(item for item in talk.items if isinstance(item, Result) and item.call_id == "c1")
    assert detailed.result.details == {"exit_code": 0}


@pytest.mark.parametrize("by_wire", [None, False])
@pytest.mark.parametrize("is_wire_first", [True, False])
def test_whether_a_tool_failed_is_the_logs_word(by_wire: bool | None, *, is_wire_first: bool) -> None:
    talk = Talk()
    history = [ASKED, agent(call("run", "c1")), user(result("c1", "FAILED", error=by_wire))]
    feeds: list[Callable[[], object]] = [
        lambda: talk.ask(history, saying("It fails.")),
        lambda: [talk.log(turn) for turn in (*history[:2], user(result("c1", "FAILED", error=True)))],
    ]
    for feed in feeds if is_wire_first else reversed(feeds):
        feed()
    ran = next(item for item in talk.items if isinstance(item, Result))
    assert (ran.is_joined, ran.result.error) == (True, True)


def test_a_generation_of_the_log_becomes_the_wires() -> None:
    talk = Talk()
    log(talk)
    wire(talk)
    first = next(item for item in talk.items if isinstance(item, Generation))
    assert (first.request_id, first.settings.temperature, first.is_joined) == ("req_0", 0.5, True)


def test_the_same_line_in_two_files_counts_once() -> None:
    talk = Talk()
    log(talk)
    copied = Talk(talk.weaver)
    for key, message in (("u1", ASKED), ("u2", agent(think("hm"))), ("u9", agent("Done."))):
        assert copied.log(message, key=key, source="src_2", session="s2") == []
    talk.log(user("More"), key="v1", follows="u9", source="src_2", session="s2")
    assert talk.short()[-1] == "s2| user: More"
    assert talk.parents()["s2| user: More"] == "agent: Done."
    assert talk.weaver.threads[1] == Thread(id="s2", native="s2", parent="main", kind="fork")


def test_a_log_that_is_fed_twice_adds_nothing() -> None:
    talk = Talk()
    talk.log(ASKED, offset=0, at=1)
    talk.log(None, offset=9, at=2, mark="note", text="x")
    assert talk.log(ASKED, offset=0, at=1) == []
    assert talk.log(None, offset=9, at=2, mark="note", text="x") == []


def test_branches_of_a_log() -> None:
    talk = Talk()
    talk.log(ASKED, key="u1")
    talk.log(agent("One."), key="u2", follows="u1")
    talk.log(user("left"), key="u3", follows="u2")
    talk.log(user("right"), key="u4", follows="u2")
    assert talk.parents() == {
        "user: Fix it": None,
        "agent: One.": "user: Fix it",
        "user: left": "agent: One.",
        "user: right": "agent: One.",
    }


@pytest.mark.requirement("CANON-15")
def test_usage_that_only_the_log_has() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One.", response_id="r1"))
    talk.log(ASKED)
    talk.log(agent("One."), reply=TOLD)
    talk.log(agent(call("read", "c1")), reply=TOLD)
    assert talk.usage() == USAGE


@pytest.mark.requirement("CANON-15")
def test_usage_that_grows_from_line_to_line_of_one_answer() -> None:
    talk = Talk()
    talk.log(ASKED)
    talk.log(agent("One."), reply=Reply(response_id="r1", usage=Usage(input=10, output=1)))
    talk.log(agent(call("read", "c1")), reply=Reply(response_id="r1", usage=Usage(input=10, output=7)))
    assert talk.usage() == Usage(input=10, output=7)


@pytest.mark.parametrize("is_wire_first", [True, False])
def test_usage_on_a_line_of_its_own_without_any_id(*, is_wire_first: bool) -> None:
    def on_the_wire() -> None:
        talk.ask([ASKED], saying(think("hm"), "One.", call("read", "c1"), response_id="r1", usage=USAGE))

    talk = Talk()
    if is_wire_first:
        on_the_wire()
    talk.log(ASKED)
    talk.log(agent(think("hm"), "One."))
    talk.log(agent(call("read", "c1")))
    talk.log(None, reply=Reply(usage=USAGE))
    if not is_wire_first:
        on_the_wire()
    assert talk.usage() == USAGE
    (generation,) = [item for item in talk.items if isinstance(item, Generation)]
    told = [item for item in talk.items if item not in (generation, talk.items[0])]
    assert {item.generation for item in told if not isinstance(item, Generation)} == {generation.id}


@pytest.mark.requirement("CANON-15")
@pytest.mark.parametrize("is_wire_first", [True, False])
def test_a_log_may_have_an_id_of_its_own_for_an_answer(*, is_wire_first: bool) -> None:
    def on_the_wire() -> None:
        talk.ask([ASKED], failing(Outcome.CUT, "One.", response_id="r0"))
        talk.ask([ASKED], saying("One.", call("read", "c1"), response_id="r1", usage=USAGE))

    talk = Talk()
    if is_wire_first:
        on_the_wire()
    talk.log(ASKED)
    talk.log(agent("One.", call("read", "c1")), reply=Reply(response_id="own", usage=USAGE))
    if not is_wire_first:
        on_the_wire()
    assert talk.usage() == USAGE
    whole = [item for item in talk.items if isinstance(item, Generation) and item.outcome is Outcome.COMPLETE]
    assert [item.is_joined for item in whole] == [True]


def test_a_log_tells_when_inherited_things_happened() -> None:
    talk = Talk()
    talk.ask([ASKED, agent("One."), user("On")], saying("Two."))
    talk.log(ASKED, at=7)
    talk.log(agent("One."), at=8)
    assert talk.short()[:2] == ["user: Fix it inherited joined", "agent: One. inherited joined"]
    assert [item.at for item in talk.items[:2]] == [7, 8]


def test_a_log_tells_when_inherited_thoughts_came_and_out_of_what() -> None:
    talk = Talk()
    before = [ASKED, agent(think("hm"), "One.", call("read", "c1")), user(result("c1", "A"))]
    talk.ask([*before, agent(think("so"), "Two."), user("On")], saying("Three."))
    talk.log(ASKED, at=7)
    talk.log(agent(think("hm")), at=8, reply=TOLD)
    talk.log(agent("One."), at=9, reply=TOLD)
    talk.log(agent(call("read", "c1")), at=9, reply=TOLD)
    talk.log(user(result("c1", "A")), at=10)
    talk.log(agent(think("so")), at=11, reply=Reply(response_id="r2"))
    talk.log(agent("Two."), at=11, reply=Reply(response_id="r2"))
    assert talk.short(generations=True)[:8] == [
        "user: Fix it inherited joined",
        "turn complete 1",
        "thought: hm inherited joined",
        "agent: One. inherited joined",
        "call c1 read inherited joined",
        "result c1 A inherited joined",
        "turn complete 1",
        "thought: so inherited joined",
    ]
    first, second = (item.id for item in talk.items if isinstance(item, Generation) and item.response_id)
    assert [(item.at, item.generation) for item in talk.items[2:8]] == [
        (8, first),
        (9, first),
        (9, first),
        (10, None),
        (11, None),
        (11, second),
    ]


@pytest.mark.parametrize("is_wire_first", [True, False])
def test_a_log_gives_ids_to_threads_that_were_inferred(*, is_wire_first: bool) -> None:
    """The client's log has another id for the call than the wire has."""

    def on_the_wire() -> None:
        talk.ask([ASKED], saying(call("agent", None, prompt=PROMPT)), links=NO_IDS)
        talk.ask([user(PROMPT)], saying("It adds."), links=NO_IDS)
        echo = agent(call("agent", "x1", prompt=PROMPT))
        talk.ask([ASKED, echo, user(result("x1"))], saying("Done."), links=NO_IDS)

    talk = Talk()
    if is_wire_first:
        on_the_wire()
    talk.log(ASKED)
    talk.log(agent(call("agent", "agent__x1", prompt=PROMPT)))
    talk.log(None, thread="t2", parent_thread="s1", source="src_2", about={"cwd": "/"})
    talk.log(user(PROMPT), thread="t2", parent_thread="s1", source="src_2")
    talk.log(agent("It adds."), thread="t2", parent_thread="s1", source="src_2")
    talk.log(user(result("agent__x1")))
    talk.log(agent("Done."))
    if not is_wire_first:
        on_the_wire()
    main, sub = talk.weaver.threads
    assert (main.native, main.is_inferred) == ("s1", False)
    assert (sub.native, sub.parent, sub.call_id, sub.is_inferred) == ("t2", "main", "x1", False)
    assert sorted(talk.short()) == sorted(
        [
            "user: Fix it joined",
            "call x1 agent joined",
            f"{sub.id}| user: {PROMPT[:24]} joined",
            f"{sub.id}| agent: It adds. joined",
            "result x1 done joined",
            "agent: Done. joined",
        ]
    )


@pytest.mark.parametrize("is_wire_first", [True, False])
def test_a_compaction_in_both(*, is_wire_first: bool) -> None:
    def on_the_wire() -> None:
        talk.ask([ASKED], saying("One."))
        talk.ask([user(SUMMARY), user("On")], saying("Two."))

    talk = Talk()
    if is_wire_first:
        on_the_wire()
    talk.log(ASKED)
    talk.log(agent("One."))
    talk.log(None, mark="compact", text="auto")
    talk.log(user(SUMMARY), origin=Origin.SUMMARY)
    talk.log(user("On"))
    talk.log(agent("Two."))
    if not is_wire_first:
        on_the_wire()
    short = talk.short()
    assert [line.removesuffix(" joined") for line in short] == [
        "user: Fix it",
        "agent: One.",
        "mark compact",
        f"summary: {SUMMARY[:24]}",
        "user: On",
        "agent: Two.",
    ]
    assert sum(line.endswith("joined") for line in short) == (6 if is_wire_first else 5)


def test_a_failed_attempt_is_not_what_the_log_has() -> None:
    talk = Talk()
    talk.ask([ASKED], failing(Outcome.CUT, "On", response_id="r1"))
    talk.ask([ASKED], saying("One.", response_id="r2"))
    talk.log(ASKED)
    talk.log(agent("One."), reply=Reply(response_id="r2"))
    assert talk.short(generations=True) == [
        "user: Fix it joined",
        "turn cut 1 superseded",
        "agent: On superseded",
        "turn complete 2 joined",
        "agent: One. joined",
    ]


def test_a_second_log_is_not_taken_for_the_conversation_that_was_inferred() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."), links=NO_IDS)
    talk.log(None, session="s2", source="src_2", about={"cwd": "/"})
    talk.log(user("Something else"), session="s2", source="src_2")
    talk.log(None, session="s1", about={"cwd": "/"})
    talk.log(ASKED, session="s1")
    assert talk.short() == ["user: Fix it joined", "agent: One.", "s2| user: Something else"]
    assert [(thread.id, thread.native) for thread in talk.weaver.threads] == [("main", "s1"), ("s2", "s2")]


STOPPED = "[Request interrupted by user for tool use]"
COMMAND = "<command-name>/review</command-name>\n<command-args>157</command-args>"


def test_each_interruption_is_a_mark_and_no_words() -> None:
    talk = Talk()
    talk.log(ASKED)
    for number in ("c1", "c2"):
        talk.log(agent(call("read", number)))
        talk.log(user(result(number, "no"), STOPPED))
    talk.log(user(STOPPED))
    assert talk.short() == [
        "user: Fix it",
        "call c1 read",
        "result c1 no",
        "mark interrupt",
        "call c2 read",
        "result c2 no",
        "mark interrupt",
        "mark interrupt",
    ]


def test_an_interruption_that_the_wire_has_too_is_one() -> None:
    talk = Talk()
    talk.log(ASKED, key="u1")
    talk.log(user(STOPPED), key="u2", follows="u1")
    talk.ask([ASKED, user(STOPPED), user("Go on")], saying("Done.", response_id="r1"))
    assert [line for line in talk.short() if "mark" in line] == ["mark interrupt joined"]


def test_a_command_is_the_users_words_each_time() -> None:
    talk = Talk()
    talk.log(user(COMMAND))
    talk.log(agent("I look."))
    talk.log(user(COMMAND))
    talk.log(user("<bash-input>ls -l</bash-input>"))
    assert talk.short() == ["user: /review 157", "agent: I look.", "user: /review 157", "user: !ls -l"]
