"""History that is sent again is recognised however it is spelled, and what is new stands once."""

import msgspec
import pytest

from blackbird.canon.model import Amend, Call, Generation, Message, Outcome, Result, Role, Settings, Text
from tests.blackbird.timeline.weaving.talk import (
    Talk,
    agent,
    call,
    failing,
    result,
    saying,
    slices,
    system,
    think,
    user,
)

ASKED = user("Fix it")
READ = agent("I read.", call("read", "c1", path="a"))


@pytest.mark.requirement("CANON-01", "CANON-02", "CANON-03", "CANON-10")
def test_two_turns() -> None:
    talk = Talk()
    talk.ask([ASKED], saying(think("hm"), "I read.", call("read", "c1", path="a")), system_prompt="Be good.")
    talk.ask([ASKED, READ, user(result("c1", "text"))], saying("Done."), system_prompt="Be good.")
    talk.ask([ASKED, READ, user(result("c1", "text")), agent("Done."), user("Thanks")], saying("Yes."))
    assert talk.short() == [
        "system: Be good.",
        "user: Fix it",
        "thought: hm",
        "agent: I read.",
        "call c1 read",
        "result c1 text",
        "agent: Done.",
        "user: Thanks",
        "agent: Yes.",
    ]
    assert talk.parents() == {
        "system: Be good.": None,
        "user: Fix it": None,
        "thought: hm": "user: Fix it",
        "agent: I read.": "thought: hm",
        "call c1 read": "agent: I read.",
        "result c1 text": "call c1 read",
        "agent: Done.": "result c1 text",
        "user: Thanks": "agent: Done.",
        "agent: Yes.": "user: Thanks",
    }
    said = next(item for item in talk.items if isinstance(item, Message) and item.text == "I read.")
    assert (said.role, said.parts) == (Role.ASSISTANT, (Text("I read."),))
    called = next(item for item in talk.items if isinstance(item, Call))
    assert (called.call.name, called.call.arguments, called.call_id) == ("read", {"path": "a"}, "c1")
    assert called.generation == said.generation
    answered = next(item for item in talk.items if isinstance(item, Result))
    assert (answered.call_id, answered.result.text, answered.result.error) == ("c1", "text", None)


@pytest.mark.requirement("CANON-04", "CANON-05")
def test_a_generation_holds_what_was_asked_for_and_where_it_stands() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("Yes.", model="m-1-large", stop_reason="end", response_id="r1"), provider_request="p1")
    generation = talk.items[1]
    assert isinstance(generation, Generation)
    assert generation.settings == Settings(model="m-1", temperature=0.5, max_tokens=64)
    assert (generation.model, generation.stop_reason, generation.response_id) == ("m-1-large", "end", "r1")
    assert (generation.request_id, generation.provider_request) == ("req_0", "p1")
    place = talk.items[0].evidence[0]
    assert (place.source, place.segment, place.sequence) == ("req_0", 1, 7)
    assert (place.start, place.end) == (0, slices([ASKED])[0].end)


NOISE = {
    "moving cache_control": [user("Fix it", cache=1), agent("I read.", call("read", "c1", path="a"), cache=2)],
    "string for list": [{"role": "user", "content": "Fix it"}, READ],
    "added defaults": [ASKED, agent("I read.", call("read", "c1", path="a", all=False))],
    "text in pieces": [ASKED, agent("I ", "read.", call("read", "c1", path="a"))],
    "text in two messages": [ASKED, agent("I "), agent("read.", call("read", "c1", path="a"))],
    "blanks": [user(" Fix it\n"), agent("\nI read. ", call("read", "c1", path="a"))],
    "a thought that was dropped": [ASKED, READ],
    "text that was dropped": [ASKED, agent(call("read", "c1", path="a"))],
    "text in other words": [ASKED, agent("I read", call("read", "c1", path="a"))],
    "a user's words with the time": [user("12:01\nFix it"), READ],
    "a message that was put between": [ASKED, user("<x>a wrapper that nobody knows</x>"), READ],
}


@pytest.mark.requirement("CANON-10")
@pytest.mark.parametrize("noise", NOISE)
def test_a_history_that_is_spelled_anew(noise: str) -> None:
    talk = Talk()
    talk.ask([ASKED], saying(think("hm"), "I read.", call("read", "c1", path="a")))
    talk.ask([*NOISE[noise], user(result("c1"))], saying("Done."))
    talk.ask([ASKED, READ, user(result("c1")), agent("Done."), user("Thanks")], saying("Yes."))
    put_between = ["user: <x>a wrapper that nobody"] if noise.endswith("between") else []
    assert talk.short() == [
        "user: Fix it",
        "thought: hm",
        "agent: I read.",
        "call c1 read",
        *put_between,
        "result c1 done",
        "agent: Done.",
        "user: Thanks",
        "agent: Yes.",
    ]


def test_text_that_came_in_pieces_is_one_later() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One, ", "two, ", "three."))
    talk.ask([ASKED, agent("One, two, three."), user("More")], saying("Four."))
    assert talk.short() == [
        "user: Fix it",
        "agent: One, ",
        "agent: two, ",
        "agent: three.",
        "user: More",
        "agent: Four.",
    ]


def test_parallel_results_in_another_order() -> None:
    talk = Talk()
    calls = [call("read", "c1", path="a"), call("read", "c2", path="b")]
    talk.ask([ASKED], saying(*calls))
    talk.ask([ASKED, agent(*calls), user(result("c2"), result("c1"))], saying("One."))
    talk.ask([ASKED, agent(*calls), user(result("c1"), result("c2")), agent("One."), user("Go")], saying("Two."))
    talk.ask([ASKED, agent(*calls), user(result("c2")), user(result("c1")), agent("One."), user("Go")], None)
    assert talk.short() == [
        "user: Fix it",
        "call c1 read",
        "call c2 read",
        "result c2 done",
        "result c1 done",
        "agent: One.",
        "user: Go",
        "agent: Two.",
    ]


@pytest.mark.requirement("CANON-02")
def test_ids_that_are_invented_later() -> None:
    talk = Talk()
    talk.ask([ASKED], saying(call("read", path="a"), call("read", path="b")))
    assert [item.is_made_up for item in talk.items if isinstance(item, Call)] == [True, True]
    echo = agent(call("read", "read_1", path="a"), call("read", "read_2", path="b", all=False))
    talk.ask([ASKED, echo, user(result("read_1"), result("read_2"))], saying("Done."))
    assert talk.short() == [
        "user: Fix it",
        "call read_1 read",
        "call read_2 read",
        "result read_1 done",
        "result read_2 done",
        "agent: Done.",
    ]


def test_ids_that_only_results_have() -> None:
    talk = Talk()
    calls = [call("read", path="a"), call("list", path="b")]
    talk.ask([ASKED], saying(*calls))
    talk.ask([ASKED, agent(*calls), user(result("x#0", name="list"), result("x#1", name="read"))], saying("Done."))
    assert talk.short() == [
        "user: Fix it",
        "call x#1 read",
        "call x#0 list",
        "result x#0 done",
        "result x#1 done",
        "agent: Done.",
    ]


def test_calls_and_results_without_any_ids_are_joined_in_order() -> None:
    talk = Talk()
    calls = [call("read", path="a"), call("read", path="b")]
    history = [ASKED, agent(*calls), user(result(None, "A", "read"), result(None, "B", "read"))]
    talk.ask([ASKED], saying(*calls))
    talk.ask(history, saying("Done."))
    talk.ask([*history, agent("Done."), user("Thanks")], saying("Yes."))
    items = talk.items
    ids = [item.call_id for item in items if isinstance(item, Call)]
    assert [(item.call_id, item.result.text) for item in items if isinstance(item, Result)] == [
        (ids[0], "A"),
        (ids[1], "B"),
    ]
    assert len(items) == 11


def test_ids_that_are_used_again_in_each_turn() -> None:
    talk = Talk()
    first = [ASKED, agent(call("read", "call_0", path="a")), user(result("call_0", "A"))]
    second = [*first, agent(call("read", "call_0", path="b")), user(result("call_0", "B"))]
    talk.ask([ASKED], saying(call("read", "call_0", path="a")))
    talk.ask(first, saying(call("read", "call_0", path="b")))
    talk.ask(second, saying("Done."))
    assert [item.result.text for item in talk.items if isinstance(item, Result)] == ["A", "B"]
    assert [item.call.arguments for item in talk.items if isinstance(item, Call)] == [{"path": "a"}, {"path": "b"}]


@pytest.mark.requirement("CANON-10")
def test_the_same_words_said_twice_are_both_kept() -> None:
    talk = Talk()
    history = [ASKED, agent("Some."), user("continue")]
    talk.ask([ASKED], saying("Some."))
    talk.ask(history, saying("Some."))
    talk.ask([*history, agent("Some."), user("continue")], saying("Some."))
    assert talk.short() == [
        "user: Fix it",
        "agent: Some.",
        "user: continue",
        "agent: Some.",
        "user: continue",
        "agent: Some.",
    ]


def test_wrappers_stand_beside_the_words_once_for_each_time() -> None:
    reminder = "<system-reminder>\nUse the tools.\n</system-reminder>"
    talk = Talk()
    talk.ask([user(reminder, "Fix it")], saying("I see.", call("read", "c1", path="a")))
    echo = agent("I see.", call("read", "c1", path="a"))
    talk.ask([user(reminder, "Fix it"), echo, user(result("c1"), reminder)], saying("Done."))
    # On resume the client says the same in the name of the system, and texts become lists.
    talk.ask(
        [user("Fix it"), system("Use the tools."), echo, user(result("c1")), agent("Done."), user("Go")],
        saying("Yes."),
    )
    assert [line.splitlines()[0] for line in talk.short()] == [
        "client: <system-reminder>",
        "user: Fix it",
        "agent: I see.",
        "call c1 read",
        "result c1 done",
        "client: <system-reminder>",
        "agent: Done.",
        "user: Go",
        "agent: Yes.",
    ]


def test_history_that_was_there_before_is_inherited() -> None:
    talk = Talk()
    talk.ask(
        [ASKED, agent(think("hm"), "I read.", call("read", "c1")), user(result("c1")), user("Go")], saying("Yes.")
    )
    assert talk.short() == [
        "user: Fix it inherited",
        "thought: hm inherited",
        "agent: I read. inherited",
        "call c1 read inherited",
        "result c1 done",
        "user: Go",
        "agent: Yes.",
    ]
    assert [item.at is None for item in talk.items if item.is_inherited] == [True] * 4


def test_wrappers_in_what_was_there_before_are_inherited_with_it() -> None:
    talk = Talk()
    talk.ask([ASKED, system("Use the tools."), agent("One."), user("Go"), system("Be brief.")], saying("Two."))
    assert talk.short() == [
        "user: Fix it inherited",
        "system: Use the tools. inherited",
        "agent: One. inherited",
        "user: Go",
        "system: Be brief.",
        "agent: Two.",
    ]


def test_an_edit_of_an_earlier_message_is_a_branch() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."))
    talk.ask([ASKED, agent("One."), user("left")], saying("Two."))
    talk.ask([ASKED, agent("One."), user("right")], saying("Three."))
    talk.ask([ASKED, agent("One."), user("right"), agent("Three."), user("on")], saying("Four."))
    assert talk.parents() == {
        "user: Fix it": None,
        "agent: One.": "user: Fix it",
        "user: left": "agent: One.",
        "agent: Two.": "user: left",
        "user: right": "agent: One.",
        "agent: Three.": "user: right",
        "user: on": "agent: Three.",
        "agent: Four.": "user: on",
    }


def test_a_history_that_lost_its_beginning() -> None:
    talk = Talk()
    history = [ASKED]
    for number in range(120):
        talk.ask(history, saying(call("read", f"c{number}")))
        history += [agent(call("read", f"c{number}")), user(result(f"c{number}"))]
    before = len(talk.short())
    assert before == 1 + 120 + 119
    talk.ask(history[201:], saying("Done."))
    assert talk.short()[before:] == ["result c119 done", "agent: Done."]


def test_a_history_that_lost_its_middle() -> None:
    talk = Talk()
    history = [ASKED]
    for number in range(120):
        talk.ask(history, saying(call("read", f"c{number}")))
        history += [agent(call("read", f"c{number}")), user(result(f"c{number}"))]
    before = len(talk.short())
    talk.ask([ASKED, user("[240 messages left out]"), *history[-4:]], saying("Done."))
    assert talk.short()[before:] == ["result c119 done", "agent: Done."]


@pytest.mark.requirement("CANON-10")
def test_an_exchange_that_is_fed_twice_adds_nothing() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."))
    assert talk.feed(talk.seen[0]) == []


def test_a_partial_answer_that_the_client_keeps_goes_on() -> None:
    talk = Talk()
    talk.ask([ASKED], failing(Outcome.CUT, "The test pas"))
    talk.ask([ASKED, agent("The test pas"), user("go on")], saying("ses."))
    assert talk.short(generations=True) == [
        "user: Fix it",
        "turn cut 1",
        "agent: The test pas",
        "user: go on",
        "turn complete 1",
        "agent: ses.",
    ]


def test_ids_are_the_same_each_time() -> None:
    def woven() -> list[str]:
        talk = Talk()
        talk.ask([ASKED], saying(think("hm"), "I read.", call("read", "c1", path="a")))
        talk.ask([ASKED, READ, user(result("c1"), "and more")], saying("Done."))
        return [thing.id for thing in talk.things if not isinstance(thing, Amend)]

    first = woven()
    assert first == woven()
    assert len(set(first)) == len(first)
    assert all(len(one) == len("it_") + 16 and msgspec.json.encode(one).islower() for one in first)
