"""Attempts at one turn: those that failed are superseded by the next, and all that was billed is counted."""

import msgspec
import pytest

from blackbird.canon.model import Failure, Generation, Mark, Outcome, Purpose, Reply, Usage
from tests.blackbird.timeline.weaving.talk import Talk, agent, call, failing, result, saying, system, think, user

ASKED = user("Fix it")


@pytest.mark.requirement("CANON-11")
@pytest.mark.parametrize(
    "failed",
    [
        failing(Outcome.ERROR, failure=Failure("rate_limit", "slow down")),
        failing(Outcome.CUT),
        None,
    ],
)
def test_a_retry_supersedes_what_failed(failed: Reply | None) -> None:
    talk = Talk()
    talk.ask([ASKED], failed, status=429)
    talk.ask([ASKED], failed, status=529)
    talk.ask([ASKED], saying("Done."), status=200)
    outcome = "cut" if failed is None else failed.outcome.value
    assert talk.short(generations=True) == [
        "user: Fix it",
        f"turn {outcome} 1 superseded",
        f"turn {outcome} 2 superseded",
        "turn complete 3",
        "agent: Done.",
    ]


@pytest.mark.requirement("CANON-11")
@pytest.mark.parametrize("outcome", [Outcome.CUT, Outcome.ERROR])
def test_what_came_of_a_failed_attempt_is_superseded_too(outcome: Outcome) -> None:
    talk = Talk()
    talk.ask([ASKED], failing(outcome, think("hm"), "I re"))
    # The next attempt is asked for as one JSON document, and its words are the same at first.
    talk.ask([ASKED], saying(think("hm"), "I re", call("read", "c1")))
    talk.ask([ASKED, agent("I re", call("read", "c1")), user(result("c1"))], saying("Done."))
    assert talk.short(generations=True) == [
        "user: Fix it",
        f"turn {outcome.value} 1 superseded",
        "thought: hm superseded",
        "agent: I re superseded",
        "turn complete 2",
        "thought: hm",
        "agent: I re",
        "call c1 read",
        "result c1 done",
        "turn complete 1",
        "agent: Done.",
    ]


def test_a_retry_may_have_the_id_of_the_answer_that_was_cut() -> None:
    talk = Talk()
    part, whole = Usage(input=10, output=1), Usage(input=10, output=5)
    talk.ask([ASKED], failing(Outcome.CUT, "On", response_id="r1", usage=part))
    talk.ask([ASKED], saying("One.", response_id="r1", usage=whole))
    talk.log(ASKED)
    talk.log(agent("One."), reply=Reply(response_id="own-1", usage=whole))
    found = [(item.usage, item.is_joined) for item in talk.items if isinstance(item, Generation)]
    assert found == [(part, False), (whole, True)]


def test_a_failure_that_the_user_answers_stays_what_it_is() -> None:
    talk = Talk()
    talk.ask([ASKED], failing())
    talk.ask([ASKED, user("again?")], saying("Done."))
    assert talk.short(generations=True) == [
        "user: Fix it",
        "turn error 1",
        "user: again?",
        "turn complete 1",
        "agent: Done.",
    ]


def test_two_whole_answers_to_one_question_are_branches() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("One."))
    talk.ask([ASKED], saying("Two."))
    assert talk.parents() == {"user: Fix it": None, "agent: One.": "user: Fix it", "agent: Two.": "user: Fix it"}
    assert not any(item.is_superseded for item in talk.items)


@pytest.mark.requirement("CANON-15")
def test_usage_is_counted_once_a_response_and_superseded_ones_too() -> None:
    talk = Talk()
    talk.ask([ASKED], failing(Outcome.CUT, "I re", response_id="r1", usage=Usage(input=10, output=1)))
    talk.ask([ASKED], saying("I read.", response_id="r2", usage=Usage(input=10, output=3)))
    # The same response, told a second time.
    talk.ask([ASKED], saying("I read.", response_id="r2", usage=Usage(input=10, output=3)))
    assert talk.usage() == Usage(input=20, output=4)
    billed = [(item.is_superseded, item.usage) for item in talk.items if isinstance(item, Generation)]
    assert billed == [(True, Usage(input=10, output=1)), (False, Usage(input=10, output=3)), (False, None)]


@pytest.mark.parametrize(
    "purpose", [Purpose.TITLE, Purpose.COUNT, Purpose.MEMORY, Purpose.COMPACTION, Purpose.COMMIT, Purpose.OTHER]
)
def test_side_calls_are_generations_alone(purpose: Purpose) -> None:
    talk = Talk()
    talk.ask([user("A title, please"), ASKED], saying("A title"), purpose=purpose)
    talk.ask([ASKED], saying("Done."))
    assert talk.short(generations=True) == [
        f"{purpose.value} complete 1",
        "user: Fix it",
        "turn complete 1",
        "agent: Done.",
    ]


def test_a_request_without_its_bodies_is_a_generation_alone() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("Done."))
    seen = msgspec.structs.replace(talk.seen[0], request_id="req_x", ask=None, reply=Reply(usage=Usage(input=3)))
    found = talk.feed(seen)
    assert [type(thing) for thing in found] == [Generation]
    assert isinstance(found[0], Generation)
    assert (found[0].usage, found[0].request_id) == (Usage(input=3), "req_x")


def test_a_request_that_no_dialect_knows_is_a_mark() -> None:
    talk = Talk()
    talk.ask([ASKED], saying("Done."))
    seen = msgspec.structs.replace(
        talk.seen[0],
        request_id="req_x",
        ask=None,
        reply=None,
        dialect=None,
        purpose=Purpose.OTHER,
        method="GET",
        path="/v1/plugins",
        status=404,
    )
    (mark,) = talk.feed(seen)
    assert isinstance(mark, Mark)
    assert (mark.kind, mark.text, mark.data["status"]) == ("other", "GET /v1/plugins", 404)


def test_a_chain_of_responses_with_a_warm_up() -> None:
    talk = Talk()
    warm_up = Reply(response_id="r0", usage=Usage(input=9))
    talk.ask([system("Be good.")], warm_up, purpose=Purpose.WARMUP, is_idle=True)
    talk.ask([ASKED], saying(call("read", "c1"), response_id="r1"), previous="r0")
    talk.ask([user(result("c1"))], failing(Outcome.CUT), previous="r1")
    talk.ask([user(result("c1"))], saying("Done.", response_id="r2"), previous="r1")
    talk.ask([user("More")], saying("Yes.", response_id="r3"), previous="r2")
    # The same conversation over another connection, whole.
    history = [ASKED, agent(call("read", "c1")), user(result("c1")), agent("Done."), user("More"), agent("Yes.")]
    talk.ask([*history, user("Bye")], saying("Bye."))
    assert talk.short(generations=True) == [
        "system: Be good.",
        "warmup complete 1",
        "user: Fix it",
        "turn complete 1",
        "call c1 read",
        "result c1 done",
        "turn cut 1 superseded",
        "turn complete 2",
        "agent: Done.",
        "user: More",
        "turn complete 1",
        "agent: Yes.",
        "user: Bye",
        "turn complete 1",
        "agent: Bye.",
    ]
    assert talk.usage() == Usage(input=9)
