"""What clients say beside a conversation: each time is told once, wherever and in whoever's name it comes again."""

from typing import Any

import pytest

from blackbird.canon.model import Message, Origin, Role
from blackbird.canon.wrappers import PACK_TAG
from blackbird.sessions.links import Links
from tests.blackbird.timeline.weaving.talk import SUMMARY, Talk, agent, call, result, saying, system, user

ASKED = user("Fix it")
HOOK = "Use tabs."
PACK = f"<{PACK_TAG}>\nUse tabs.\n</{PACK_TAG}>"
READ = [call("read", "c1"), call("read", "c2")]
EDIT = [call("edit", "c3")]


def reminder(text: str, of: str | None = None) -> str:
    """A client's words in the user's name; those of a hook with what it was run for."""
    label = "" if of is None else f"PostToolUse:{of} hook additional context: "
    return f"<system-reminder>\n{label}{text}\n</system-reminder>"


def told(talk: Talk, text: str = HOOK) -> list[Message]:
    """The messages that say this, whatever stands around it."""
    return [
        item
        for item in talk.items
        if isinstance(item, Message) and item.role is not Role.ASSISTANT and text in item.text
    ]


def hooked() -> list[dict[str, Any]]:
    """A conversation in which a hook says the same after each tool, as the running client sends it."""
    return [
        ASKED,
        agent(*READ),
        user(result("c1"), result("c2"), reminder(HOOK, "Read") + "\n", reminder(HOOK, "Read")),
        agent(*EDIT),
        user(result("c3"), reminder(HOOK, "Edit")),
    ]


def on_the_wire(talk: Talk) -> None:
    history = hooked()
    talk.ask(history[:1], saying(*READ))
    talk.ask(history[:3], saying(*EDIT))
    talk.ask(history, saying("Done."))


def in_the_log(talk: Talk) -> None:
    """The words alone, on lines of their own; the results hang on their calls."""

    def hook(key: str, follows: str) -> None:
        talk.log(system(HOOK), key=key, follows=follows, origin=Origin.CLIENT)

    talk.log(ASKED, key="u1")
    talk.log(agent(READ[0]), key="u2", follows="u1")
    talk.log(agent(READ[1]), key="u3", follows="u2")
    talk.log(user(result("c2")), key="u4", follows="u3")
    hook("u5", "u4")
    talk.log(user(result("c1")), key="u6", follows="u2")
    hook("u7", "u6")
    talk.log(agent(*EDIT), key="u8", follows="u7")
    talk.log(user(result("c3")), key="u9", follows="u8")
    hook("u10", "u9")
    talk.log(agent("Done."), key="u11", follows="u10")


def test_the_same_words_beside_several_turns_are_as_many_messages() -> None:
    talk = Talk()
    on_the_wire(talk)
    assert [(item.role, item.origin, item.at) for item in told(talk)] == [
        (Role.USER, Origin.CLIENT, 2_000_000_000),
        (Role.USER, Origin.CLIENT, 2_000_000_000),
        (Role.USER, Origin.CLIENT, 3_000_000_000),
    ]


def test_on_resume_a_client_says_them_in_another_name_and_leaves_some_out() -> None:
    talk = Talk()
    on_the_wire(talk)
    label = "PostToolUse:Read hook additional context: "
    resumed = [
        ASKED,
        agent(*READ),
        user(result("c2"), result("c1")),
        system(label + HOOK),
        agent(*EDIT),
        user(result("c3")),
        system(label.replace("Read", "Edit") + HOOK),
        agent("Done."),
        user("Go on"),
    ]
    talk.ask(resumed, saying("Yes."))
    assert len(told(talk)) == 3
    assert talk.short()[-2:] == ["user: Go on", "agent: Yes."]


@pytest.mark.parametrize("order", [(on_the_wire, in_the_log), (in_the_log, on_the_wire)])
def test_the_wire_and_the_log_have_the_same_words_of_hooks(order: Any) -> None:
    talk = Talk()
    for tell in order:
        tell(talk)
    assert [(item.origin, item.is_joined, len(item.evidence)) for item in told(talk)] == [
        (Origin.CLIENT, True, 2)
    ] * 3
    # The first two stand in one message.
    assert len({place for item in told(talk) for place in item.evidence}) == 5


@pytest.mark.parametrize("is_wire_first", [True, False])
def test_what_a_client_leaves_out_stays_the_logs(*, is_wire_first: bool) -> None:
    def send() -> None:
        history = hooked()
        history[2] = user(result("c1"), result("c2"), reminder(HOOK, "Read"))
        talk.ask([*history, agent("Done."), user("Go on")], saying("Yes."))

    talk = Talk()
    if is_wire_first:
        send()
    in_the_log(talk)
    if not is_wire_first:
        send()
    assert sorted(item.is_joined for item in told(talk)) == [False, True, True]
    (alone,) = (item for item in told(talk) if not item.is_joined)
    assert [one.offset for one in alone.evidence] == [(7 + is_wire_first) * 1_000_000_000]


def test_a_log_alone_tells_them_all() -> None:
    talk = Talk()
    in_the_log(talk)
    assert [item.origin for item in told(talk)] == [Origin.CLIENT] * 3
    in_the_log(talk)
    assert len(told(talk)) == 3


@pytest.mark.parametrize("is_wire_first", [True, False])
def test_a_log_may_have_them_at_another_place(*, is_wire_first: bool) -> None:
    def send() -> None:
        talk.ask([ASKED, system(f"SessionStart hook additional context: {HOOK}")], saying("Done."))

    talk = Talk()
    if is_wire_first:
        send()
    talk.log(system(HOOK), origin=Origin.CLIENT)
    talk.log(ASKED)
    if not is_wire_first:
        send()
    assert [(item.origin, item.is_joined) for item in told(talk)] == [(Origin.CLIENT, True)]
    talk.ask(
        [ASKED, system(f"SessionStart hook additional context: {HOOK}"), agent("Done."), user("On")], saying("2")
    )
    assert len(told(talk)) == 1


@pytest.mark.requirement("CANON-12")
def test_a_pack_that_a_hook_gave_is_the_logs() -> None:
    talk = Talk()
    talk.ask([user(reminder(PACK, "Read"), "Fix it")], saying("Done."))
    talk.log(system(PACK), origin=Origin.PACK)
    talk.log(ASKED)
    assert talk.short() == [f"pack: {PACK[:24]} joined", "user: Fix it joined", "agent: Done."]


def test_what_moves_along_with_the_newest_message_is_one() -> None:
    talk = Talk()
    talk.ask([user("Fix it", reminder(HOOK))], saying("One."))
    talk.ask([ASKED, agent("One."), user("On", reminder(HOOK))], saying("Two."))
    talk.ask([ASKED, agent("One."), user("On"), agent("Two."), user("On", reminder(HOOK))], saying("Three."))
    assert len(told(talk)) == 1
    history = [ASKED, agent("One."), user("On"), agent("Two."), user("On", reminder(HOOK)), agent("Three.")]
    talk.ask([*history, user("Bye", reminder(HOOK))], saying("Bye."))
    assert len(told(talk)) == 2


def test_a_branch_has_its_own() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."))
    talk.ask([ASKED, agent("One."), user("On", reminder(HOOK))], saying("Two."))
    talk.ask([ASKED, agent("One."), user("Back", reminder(HOOK))], saying("Three."))
    assert [talk.parents()[name] for name in ("user: On", "user: Back")] == ["agent: One."] * 2
    assert len(told(talk)) == 2


def test_each_thread_has_its_own() -> None:
    context = "<environment_context>\n<cwd>/job</cwd>\n</environment_context>"
    spawn = call("agent", "c1", prompt="Read calc.py and report.")
    links = Links(session="s1", thread="t2", parent="s1", kind="sub-agent")
    talk = Talk()
    talk.ask([system("No network."), user(context), ASKED], saying(spawn), system_prompt="Be good.")
    for _ in range(2):
        talk.ask(
            [system("No network."), user(context), user("Read calc.py and report.")],
            saying("It adds."),
            links=links,
            system_prompt="Be good.",
        )
    own = ["system: Be good.", "system: No network.", f"client: {context[:24]}"]
    assert talk.short()[:3] == own
    assert talk.short()[5:8] == [f"t2| {line}" for line in own]
    assert len([item for item in talk.items if isinstance(item, Message) and item.origin is Origin.SYSTEM]) == 4


def test_what_was_there_before_is_inherited_and_has_the_logs_time() -> None:
    talk = Talk()
    talk.ask([*hooked(), agent("Done."), user("Go on", reminder("Be quick."))], saying("Yes."))
    assert [(item.is_inherited, item.at) for item in told(talk)] == [(True, None)] * 3
    assert [(item.is_inherited, item.at) for item in told(talk, "Be quick.")] == [(False, 1_000_000_000)]
    in_the_log(talk)
    assert [(item.is_inherited, item.is_joined, item.at is None) for item in told(talk)] == [(True, True, False)] * 3


def test_a_compaction_begins_anew_but_for_what_stands_before_it() -> None:
    talk = Talk()
    front = reminder("Today is Monday.")
    first = [user(front, "Fix it"), agent(*EDIT), user(result("c3"), reminder(HOOK, "Edit"))]
    talk.ask(first[:1], saying(*EDIT))
    talk.ask(first, saying("One."))
    history = [user(front, SUMMARY), agent(call("edit", "c4")), user(result("c4"), reminder(HOOK, "Edit"))]
    talk.ask(history[:1], saying(call("edit", "c4")))
    talk.ask(history, saying("Two."))
    talk.ask([*history, agent("Two."), user("Bye")], saying("Bye."))
    assert len(told(talk, "Monday")) == 1
    assert len(told(talk)) == 2


def test_what_is_kept_through_a_compaction_is_not_told_again() -> None:
    talk = Talk()
    history = [*hooked(), agent("Done."), user("Go on")]
    on_the_wire(talk)
    talk.ask(history, saying("Yes."))
    kept = [user(SUMMARY), *history[3:], agent("Yes."), user("And now?")]
    talk.ask(kept, saying("More."))
    talk.ask([*kept, agent("More."), user("Bye")], saying("Bye."))
    assert len(told(talk)) == 3
    assert talk.short()[-4:] == ["user: And now?", "agent: More.", "user: Bye", "agent: Bye."]
