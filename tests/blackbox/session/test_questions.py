"""Questions: options, answers, and who confirmed what."""

import pytest

from blackbox.events.calls import Answer
from blackbox.session.questions import Question
from tests.blackbox.session.logs import NIGHT_SHIFT, read_session, session_of


def question_of(body: str) -> Question:
    (question,) = session_of(body).questions
    return question


@pytest.mark.requirement("QUEST-01", "QUEST-02", "QUEST-04", "VIEW-03")
def test_question_is_joined_with_its_answer() -> None:
    question = question_of(
        'q: id=q_3 "Which features?" options=["Auth", "Billing, monthly", "API"] multi=true → [pending]\n'
        "t:read a → [ok]\n"
        "q: id=q_3 → [selected: Auth, API]\n"
    )
    assert question.id == "q_3"
    assert question.text == "Which features?"
    assert question.options == ("Auth", "Billing, monthly", "API")
    assert question.multi
    assert (question.line.number, question.answer_line and question.answer_line.number) == (1, 3)
    assert question.answer == Answer("selected", ("Auth", "API"))
    assert question.selected == ("Auth", "API")
    assert (question.is_pending, question.is_auto, question.is_unconfirmed) == (False, False, False)


@pytest.mark.requirement("QUEST-02")
@pytest.mark.parametrize("result", ["", " → [pending]"])
def test_question_without_an_answer_is_pending(result: str) -> None:
    session = session_of(f'q: id=q_1 "Which database?"{result}\n')
    assert [question.id for question in session.pending] == ["q_1"]
    assert session.questions[0].answer is None


@pytest.mark.requirement("QUEST-03")
def test_free_text_is_an_answer_without_options() -> None:
    question = question_of('q: id=q_2 "Expected load?" → [pending]\nq: id=q_2 → "About 1000 req/s"\n')
    assert question.answer == Answer("text", text="About 1000 req/s")
    assert (question.options, question.selected) == ((), ())


@pytest.mark.requirement("QUEST-04")
def test_answer_on_the_line_of_the_question() -> None:
    question = question_of('q: "Which approach?" → [selected: OAuth]\n')
    assert (question.id, question.selected) == (None, ("OAuth",))
    assert question.answer_line is question.line


def test_single_choice_with_a_comma_is_the_option_offered() -> None:
    question = question_of('q: id=1 "?" options=["Yes, now", "No"] → [pending]\nq: id=1 → [selected: Yes, now]\n')
    assert question.selected == ("Yes, now",)


def test_answer_without_an_id_belongs_to_the_question_before_it() -> None:
    question = question_of('q: "Go on?" → [pending]\nq: → [selected: yes]\n')
    assert question.selected == ("yes",)


def test_answered_question_asked_anew_is_another_one() -> None:
    session = session_of('q: id=1 "A?" → [selected: a]\nq: id=1 "B?" → [pending]\nq: id=1 → [selected: b]\n')
    assert [(question.text, question.selected) for question in session.questions] == [("A?", ("a",)), ("B?", ("b",))]


@pytest.mark.requirement("QUEST-05", "QUEST-06", "QUEST-08")
def test_auto_answer_is_unconfirmed_until_a_human_answers() -> None:
    asked = 'm:auto afk=true\nq: id=q_4 "Which auth?" options=["JWT", "OAuth"] → [auto]\n'
    session = session_of(asked)
    assert (session.questions[0].is_auto, session.questions[0].is_pending, session.questions[0].afk) == (
        True,
        True,
        True,
    )
    assert session.unconfirmed == ()
    decided = asked + 'q: id=q_4 → [auto: OAuth, reason="in use in 12 files"]\n'
    (question,) = session_of(decided).unconfirmed
    assert (question.selected, question.reason) == (("OAuth",), "in use in 12 files")
    for answer in ("[selected: OAuth]", "JWT please"):
        assert session_of(f"{decided}q: id=q_4 → {answer}\n").unconfirmed == ()


@pytest.mark.requirement("QUEST-08")
@pytest.mark.parametrize(
    "line",
    [
        "u: OAuth is fine, well done",
        "q: id=q_4 → [pending]",
        "q: id=q_4 → [err: nobody there]",
        "q: id=q_4 → [skip]",
        "q: id=q_9 → [selected: OAuth]",
        "o: id=q_4 → yes",
        '@notify "decided OAuth"',
    ],
)
def test_nothing_but_a_human_answer_to_this_question_confirms(line: str) -> None:
    session = session_of(f'q: id=q_4 "Which auth?" → [auto: OAuth, reason="in use"]\n{line}\n')
    assert [question.id for question in session.unconfirmed] == ["q_4"]


def test_auto_answer_after_a_human_one_needs_a_nod_again() -> None:
    session = session_of('q: id=1 "A?" → [selected: a]\nq: id=1 → [auto: b, reason=x]\n')
    assert [question.selected for question in session.unconfirmed] == [("b",)]


@pytest.mark.requirement("QUEST-07")
def test_afk_lasts_until_the_next_mode_line() -> None:
    body = 'q: "a"\nm:auto afk=true\nq: "b"\nu: back\nq: "c"\nm:auto\nq: "d"\n'
    assert [question.afk for question in session_of(body).questions] == [False, True, True, False]


def test_night_shift() -> None:
    session = read_session(NIGHT_SHIFT)
    assert [(question.id, question.selected) for question in session.questions] == [
        ("q_1", ("Own table",)),
        ("q_2", ()),
        ("q_3", ("HTTP", "CLI")),
        ("q_4", ("reset",)),
        ("q_5", ("tide dead",)),
    ]
    assert [question.id for question in session.unconfirmed] == ["q_4", "q_5"]
    assert session.pending == ()
