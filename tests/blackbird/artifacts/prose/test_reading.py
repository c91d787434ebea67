"""Decisions, constraints and open threads in prose."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.model import Speaker, ThreadKind, ThreadState, Type
from blackbird.artifacts.prose import Hint, read
from tests.blackbird.artifacts.prose.corpus import Case, read_corpus

CORPUS = read_corpus()
ALL = [case for part in CORPUS.values() for case in part]
SLOTS = ("subject", "choice", "rejected", "must", "is_local", "reverts")


def found(case: Case) -> tuple[Hint, ...]:
    return read(case.text, case.speaker, case.before)


@pytest.mark.requirement("EXTRACT-02")
@pytest.mark.parametrize("case", CORPUS["tuned"], ids=lambda case: f"{case.type} {case.text[:40]}")
def test_an_invented_sentence_is_what_it_is_labelled(case: Case) -> None:
    assert [hint.kind.value for hint in found(case)] == ([case.type] if case.type != "none" else [])


@pytest.mark.parametrize(
    "case", [case for case in ALL if case.type != "none"], ids=lambda case: f"{case.speaker} {case.text[:40]}"
)
def test_an_invented_sentence_names_its_slots(case: Case) -> None:
    (hint,) = found(case)
    expected = {name: getattr(case, name) for name in SLOTS if getattr(case, name) is not None}
    assert {name: getattr(hint, name) for name in expected} == expected
    if case.rationale is not None:
        assert hint.rationale is not None
        assert case.text[slice(*hint.rationale)] == case.rationale
    if case.kind is not None:
        assert (hint.thread, hint.state) == (case.kind, ThreadState.OPEN)


@pytest.mark.requirement("EXTRACT-02")
def test_the_parts_are_large_and_the_held_back_one_keeps_its_level() -> None:
    assert len(ALL) >= 200
    assert len(CORPUS["held_back"]) >= 100
    counts: Counter[str] = Counter()
    for case in CORPUS["held_back"]:
        kinds = {hint.kind.value for hint in found(case)} & {"decision", "constraint"}
        counts[("right" if case.type in ("decision", "constraint") else "wrong") if kinds else "nothing"] += 1
        counts["there"] += case.type in ("decision", "constraint")
    assert counts["right"] / (counts["right"] + counts["wrong"]) >= 0.95
    assert counts["right"] / counts["there"] >= 0.95


def test_a_hint_says_where_it_stands_and_what_it_says_by_itself() -> None:
    text = "Thanks!\n\nok, **use** `zstd` for the archive\nbecause it is fast. And now run it."
    assert read(text, Speaker.USER) == (
        Hint(
            kind=Type.DECISION,
            first=9,
            last=9 + len("ok, **use** `zstd` for the archive\nbecause it is fast."),
            statement="Use `zstd` for the archive because it is fast.",
            subject="archive",
            choice="zstd",
            rationale=(44, 62),
        ),
    )
    assert text[44:62] == "because it is fast"


def test_one_message_may_say_several_things() -> None:
    hints = read("Use tabs. Never push to main. TODO: the manual.", Speaker.USER)
    assert [hint.kind for hint in hints] == [Type.DECISION, Type.CONSTRAINT, Type.THREAD]


def test_what_was_not_typed_says_nothing() -> None:
    assert read("```\nalways use tabs\n```\n> never push", Speaker.USER) == ()


def test_quoted_words_are_no_orders() -> None:
    assert read('The page shows "Never do that" and `always` below.', Speaker.USER) == ()


def test_an_option_goes_before_the_form_of_its_words() -> None:
    (hint,) = read("go with the first one", Speaker.USER, "1. Tea\n2. Coffee\n\nWhich one should I take?")
    assert (hint.statement, hint.choice, hint.rejected) == ("Chosen: Tea", "Tea", ("Coffee",))


def test_a_standing_rule_is_no_mere_answer() -> None:
    (hint,) = read("no, never delete anything", Speaker.USER, "Should I delete it?")
    assert (hint.kind, hint.must) == (Type.CONSTRAINT, False)


def test_a_list_of_decisions_of_an_agent() -> None:
    text = "The key decisions are:\n\n1. **One queue** per region\n2. No retries\n\nThat is all."
    assert [hint.statement for hint in read(text, Speaker.AGENT)] == ["One queue per region", "No retries"]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "Constraint: crane.py must not import third-party packages.",
            "crane.py must not import third-party packages.",
        ),
        ("Decision: we use zstd for the archive.", "We use zstd for the archive."),
        ("TODO: add a test for empty holds.", "Add a test for empty holds."),
        ("Decision: add() uses plain integers for loads.", "add() uses plain integers for loads."),
    ],
)
def test_a_statement_has_no_label_and_names_stay_as_they_are(text: str, statement: str) -> None:
    assert [hint.statement for hint in read(text, Speaker.AGENT)] == [statement]


def test_one_constraint_is_one_whoever_says_it() -> None:
    (told,) = read("crane.py must not import third-party packages.", Speaker.USER)
    (repeated,) = read("Constraint: crane.py must not import third-party packages.", Speaker.AGENT)
    assert (told.statement, told.subject) == (repeated.statement, repeated.subject)
    assert told.subject == "crane.py"


def test_next_steps_of_an_agent_are_open_threads() -> None:
    hints = read("All done.\n\n## Next steps\n\n- Write the manual\n- [x] Build", Speaker.AGENT)
    assert [(hint.kind, hint.thread, hint.statement) for hint in hints] == [
        (Type.THREAD, ThreadKind.TODO, "Write the manual")
    ]


def test_the_question_at_the_end_holds_its_options() -> None:
    text = "I see two ways. Would you like me to:\n1. Keep it\n2. Drop it"
    (hint,) = read(text, Speaker.AGENT)
    assert hint.thread is ThreadKind.QUESTION
    assert text[hint.first : hint.last] == "Would you like me to:\n1. Keep it\n2. Drop it"


def test_a_question_in_the_middle_is_none() -> None:
    assert read("Should this be a list? It is one.\n\nAll tests pass.", Speaker.AGENT) == ()


@pytest.mark.parametrize("speaker", list(Speaker))
@pytest.mark.parametrize(
    "text",
    ["!" * 20_000, "[" + "/" * 20_000, "@" * 20_000, "comment " * 3_000 + ":", "a:\n" * 10_000, "from a to " * 3_000],
    ids=["stops", "bracket", "at", "comments", "colons", "from"],
)
def test_a_hostile_text_is_read_like_any_other(text: str, speaker: Speaker) -> None:
    assert read(text, speaker, "1. a\n2. b\n\nWhich do you prefer?") == ()


WORDS = st.sampled_from(
    [
        *(
            "never",
            "use",
            "always",
            "don't",
            "X",
            "for",
            "Y",
            "because",
            "it",
            "?",
            ".",
            ",",
            "\n",
            "\n\n",
            "\n- [ ] ",
        ),
        *(
            "TODO:",
            "`c`",
            '"q"',
            "```\n",
            "| t |",
            "let's",
            "instead of",
            "yes",
            "option 2",
            "should I",
            "decided to",
        ),
        "é𝄞",
    ]
)


@given(
    text=st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=40).map(" ".join)),
    speaker=st.sampled_from(Speaker),
    before=st.one_of(st.just(""), st.just("1. a\n2. b\n\nWhich do you want?"), st.text(max_size=100)),
)
def test_hints_of_any_text_stand_in_order_and_inside(text: str, speaker: Speaker, before: str) -> None:
    at = 0
    for hint in read(text, speaker, before):
        assert at <= hint.first < hint.last <= len(text)
        assert text[hint.first : hint.last].strip()
        assert hint.statement
        assert "\n" not in hint.statement
        if hint.rationale is not None:
            assert hint.first <= hint.rationale[0] < hint.rationale[1] <= hint.last
        assert (hint.kind is Type.THREAD) == (hint.thread is not None) == (hint.state is not None)
        assert (hint.kind is Type.CONSTRAINT) == (hint.must is not None)
        at = hint.last
