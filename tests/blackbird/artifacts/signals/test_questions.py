"""A question with the option that was chosen is a decision; one without an answer is left open."""

from typing import Any

from blackbird.artifacts.claims import Claim
from blackbird.artifacts.model import Signal, Speaker, ThreadKind, ThreadState, Type
from blackbird.artifacts.scene import Scene
from blackbird.artifacts.signals import questions
from tests.blackbird.artifacts.stories import Story

ASKED: dict[str, Any] = {
    "questions": [
        {
            "question": "Which database should the crane log use?",
            "header": "Database",
            "options": [{"label": "SQLite"}, {"label": "Postgres"}],
        }
    ]
}
ANSWER = 'User has answered your questions: "Which database should the crane log use?"="Postgres".'


def claims(story: Story) -> list[Claim]:
    return list(questions.claims(Scene(story.timeline())))


def test_the_chosen_option_is_a_decision_with_its_alternatives() -> None:
    story = Story()
    story.run("run_1", "t1")
    story.call("AskUserQuestion", ASKED, ANSWER)
    (claim,) = claims(story)
    assert (claim.type, claim.by, claim.signal) == (Type.DECISION, Speaker.USER, Signal.STRUCTURED)
    assert claim.statement == "Which database should the crane log use? Postgres"
    assert (claim.subject, claim.choice, claim.rejected) == ("database", "Postgres", ("SQLite",))
    assert (claim.run, claim.task) == ("run_1", "t1")
    assert claim.provenance[0].quote == "Postgres"
    assert all(story.has(place) for place in claim.provenance)


def test_words_of_the_users_own_are_the_choice() -> None:
    story = Story()
    story.call("AskUserQuestion", ASKED, ANSWER.replace("Postgres", "a plain file"))
    (claim,) = claims(story)
    assert (claim.choice, claim.rejected) == ("a plain file", ("SQLite", "Postgres"))


def test_without_an_answer_it_is_open() -> None:
    for text, more in ((None, {}), ("", {"details": {"is_rejected": True}}), ("The user declined", {"error": True})):
        story = Story()
        story.call("ask_user", {"question": "Which quay?"}, text, **more)
        (claim,) = claims(story)
        assert (claim.type, claim.kind, claim.state) == (Type.THREAD, ThreadKind.QUESTION, ThreadState.OPEN)
        assert claim.statement == "Which quay?"


def test_several_questions_are_several_decisions() -> None:
    story = Story()
    asked = {"questions": [{"question": "Which quay?", "options": ["north", "south"]}, {"question": "When?"}]}
    story.call("AskUserQuestion", asked, "", details={"answers": {"Which quay?": "north", "When?": "today"}})
    assert [(claim.subject, claim.choice) for claim in claims(story)] == [("which quay", "north"), ("when", "today")]


def test_another_tool_asks_nothing() -> None:
    story = Story()
    story.shell("echo 'Which quay?'", "Which quay?\n")
    assert claims(story) == []
