"""A question finds what it is about, and says what was searched for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blackbird.artifacts.model import Artifact, Content, Fact, Summary, ThreadState, Type
from blackbird.retrieve.model import Asked, Found, Scope
from blackbird.retrieve.search import search
from blackbird.retrieve.weights import Limits
from blackbird.store.writing import Writing
from blackbird.tokens import Plain
from tests.blackbird.retrieve.artifacts import (
    DAY,
    NOW,
    artifact,
    constraint,
    decision,
    new_memory,
    outcome,
    said,
    talk,
    thread,
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Writing]:
    with new_memory(tmp_path / "derived") as found:
        yield found


def ask(memory: Writing, text: str, **more: object) -> Found:
    return search(memory, Asked(text=text, **more), Plain())  # type: ignore[arg-type]


def titles(found: Found) -> list[str]:
    return [card.title for card in found.cards]


@pytest.mark.requirement("SEARCH-01")
def test_words_are_found_by_their_stem_and_rank_by_how_many_and_how_rare(memory: Writing) -> None:
    texts = ["we migrated the parser", "the parser is slow", "migrations are slow", "lunch", "the parser again"]
    memory.put("s1", [artifact(said(text, 10 * at), key=text) for at, text in enumerate(texts)])
    found = ask(memory, "migrate the parser?")
    assert titles(found) == [
        "we migrated the parser",
        "migrations are slow",
        "the parser is slow",
        "the parser again",
    ]
    assert (found.way, found.words, found.stopped) == ("any", ("migrate", "parser"), ("the",))
    assert (found.searched, found.weighed) == (5, 4)


def test_what_has_all_words_is_enough_if_there_is_enough_of_it(memory: Writing) -> None:
    texts = ["parser slow one", "parser slow two", "parser", "slow"]
    memory.put("s1", [artifact(said(text, 10 * at), key=text) for at, text in enumerate(texts)])
    found = ask(memory, "slow parser", k=2)
    assert (found.way, sorted(titles(found))) == ("all", ["parser slow one", "parser slow two"])
    assert ask(memory, "slow parser", k=3).way == "any"


@pytest.mark.requirement("SEARCH-05", "SEARCH-07")
def test_types_rank_in_their_order_however_old_they_are(memory: Writing) -> None:
    text = "tokens live in the keychain"
    memory.put(
        "s1",
        [
            artifact(said(text)),
            artifact(outcome(text), at=NOW - 400 * DAY),
            artifact(thread(text), at=NOW - 300 * DAY),
            artifact(decision(text), at=NOW - 4000 * DAY),
            artifact(constraint(text), at=NOW - 5000 * DAY),
        ],
    )
    assert [card.type for card in ask(memory, "keychain").cards] == [
        Type.DECISION,
        Type.CONSTRAINT,
        Type.THREAD,
        Type.OUTCOME,
        Type.SEGMENT,
    ]


@pytest.mark.requirement("SEARCH-03", "SEARCH-04")
def test_task_session_project_and_recent_work_rank_higher(memory: Writing) -> None:
    text = "retry the upload"
    memory.put("s1", [artifact(said(text), task="t1", key="1"), artifact(said(text, 9), task="t2", key="2")])
    memory.put("s2", [artifact(said(text), session="s2")])
    memory.put(
        "s3", [artifact(said(text), session="s3"), artifact(said(text, 9), session="s3", key="x", at=NOW - DAY)]
    )
    scope = Scope(session="s1", task="t1", project=("s1", "s2"), only=False)
    found = ask(memory, "upload", scope=scope)
    assert [(card.session, card.task, card.at) for card in found.cards] == [
        ("s1", "t1", NOW),
        ("s1", "t2", NOW),
        ("s2", None, NOW),
        ("s3", None, NOW),
        ("s3", None, NOW - DAY),
    ]
    assert found.searched == 5
    only = ask(memory, "upload", scope=Scope(session="s1", task="t1"))
    assert [card.task for card in only.cards] == ["t1", "t2"]
    assert (only.searched, only.left_out) == (2, ("3 artifacts outside of session s1",))
    task = ask(memory, "upload", scope=Scope(task="t2"))
    assert (task.cards[0].task, task.searched) == ("t2", 5)
    project = ask(memory, "upload", scope=Scope(project=("s1", "s2")))
    assert ({card.session for card in project.cards}, project.searched) == ({"s1", "s2"}, 3)


def test_types_narrow_a_search(memory: Writing) -> None:
    memory.put(
        "s1", [artifact(said("one word")), artifact(decision("one word")), artifact(Fact(name="tool", value="word"))]
    )
    found = ask(memory, "word", types=(Type.DECISION, Type.FACT))
    assert [card.type for card in found.cards] == [Type.DECISION, Type.FACT]
    assert (found.searched, found.left_out) == (2, ("1 artifact outside of the types decision, fact",))


def test_what_no_longer_holds_is_marked_and_goes_behind(memory: Writing) -> None:
    text = "sign with ed25519"
    memory.put(
        "s1",
        [
            artifact(decision(text, superseded_by="art_x", holds_until=5), key="1"),
            artifact(thread(text, ThreadState.DONE)),
            artifact(said(text), at=NOW - 4000 * DAY),
            artifact(Summary(bullets=(text,)), key="gone"),
        ],
    )
    gone = [stored.artifact for stored in memory.find(kind=Type.SUMMARY)]
    memory.put("s1", [each.artifact for each in memory.all() if each.artifact not in gone], gone={gone[0].id})
    found = ask(memory, "ed25519")
    assert [(card.type, card.state, card.is_expired) for card in found.cards] == [
        (Type.SEGMENT, "", False),
        (Type.DECISION, "superseded", False),
        (Type.SUMMARY, "", True),
        (Type.THREAD, "done", False),
    ]


def made_in(piece: Artifact, content: Content, **more: Any) -> Artifact:
    """What was concluded in a piece of a transcript."""
    found = artifact(content, at=piece.at, **more)
    pointer = msgspec.structs.replace(piece.provenance[0], quote=found.title)
    return msgspec.structs.replace(found, provenance=(pointer,))


def test_a_decision_is_found_by_the_talk_in_which_it_was_made(memory: Writing) -> None:
    pieces = talk("How long is the polling interval of the watcher?", "Yes, take events.", "Lunch then.")
    memory.put("s1", [*pieces, made_in(pieces[1], decision("Yes, take events."))])
    found = ask(memory, "what did we decide about the polling interval of the watcher")
    assert [(card.type, card.title) for card in found.cards[:2]] == [
        (Type.SEGMENT, "How long is the polling interval of the watcher?"),
        (Type.DECISION, "Yes, take events."),
    ]
    assert found.cards[1].why is not None
    assert found.cards[1].why.matched == {"nearby": ("polling", "interval", "watcher")}
    only = ask(memory, "polling interval", types=(Type.CONSTRAINT, Type.SEGMENT))
    assert {card.type for card in only.cards} == {Type.SEGMENT}


def test_what_was_decided_elsewhere_in_a_message_or_no_longer_holds_is_lent_nothing(memory: Writing) -> None:
    pieces = talk("How long is the polling interval?", "Yes, take events.")
    memory.put(
        "s1",
        [
            *pieces,
            made_in(pieces[1], decision("Sign with ed25519.")),
            made_in(pieces[1], decision("Yes, take events.", superseded_by="art_x")),
        ],
    )
    assert {card.type for card in ask(memory, "polling interval").cards} == {Type.SEGMENT}


def test_the_more_was_decided_in_a_piece_the_less_its_talk_says_of_each(memory: Writing) -> None:
    pieces = talk("How long is the polling interval?", "Take events. Drop the timer.")
    memory.put("s1", [*pieces, made_in(pieces[1], decision("Take events."))])
    alone = next(card for card in ask(memory, "polling").cards if card.type is Type.DECISION)
    memory.put("s1", [*pieces, *(made_in(pieces[1], decision(each)) for each in ("Take events.", "Drop the timer."))])
    shared = [card for card in ask(memory, "polling").cards if card.type is Type.DECISION]
    assert len(shared) == 2
    assert all(card.score < alone.score for card in shared)


def test_what_says_the_same_is_one_card(memory: Writing) -> None:
    for number in range(1, 6):
        session = f"s{number}"
        spelling = "Never delete the segment." if number % 2 else "never delete a segment, please"
        memory.put(session, [artifact(constraint(spelling), session=session, at=NOW + number * DAY)])
    memory.put(
        "s6",
        [
            artifact(decision("Never delete the segment."), session="s6", at=NOW - DAY),
            *talk("ok", "ok", session="s6"),
        ],
    )
    found = ask(memory, "delete segment", scope=Scope(only=False))
    assert [(card.type, card.session, card.same) for card in found.cards] == [
        (Type.CONSTRAINT, "s5", 4),
        (Type.DECISION, "s6", 0),
    ]
    own = ask(memory, "delete segment", scope=Scope(session="s2", only=False), types=(Type.CONSTRAINT,))
    assert [(card.session, card.same) for card in own.cards] == [("s2", 4)]
    assert [card.same for card in ask(memory, "ok").cards] == [0, 0]


def test_of_those_that_say_the_same_one_that_holds_is_shown(memory: Writing) -> None:
    text = "sign with ed25519"
    memory.put("s1", [artifact(decision(text, superseded_by="art_x"), at=NOW)])
    memory.put("s2", [artifact(decision(text), session="s2", at=NOW - 900 * DAY)])
    found = ask(memory, "ed25519", scope=Scope(session="s1", only=False))
    assert [(card.session, card.state, card.same) for card in found.cards] == [("s2", "", 1)]


def test_an_answer_is_found_by_the_question_before_it(memory: Writing) -> None:
    memory.put("s1", talk("Which database did we take?", "Postgres.", "Fine.", "Lunch then."))
    found = ask(memory, "taking a database")
    assert titles(found)[:2] == ["Which database did we take?", "Postgres."]
    assert found.cards[1].why is not None
    assert found.cards[1].why.matched == {"nearby": ("taking", "database")}


def test_other_runs_are_no_neighbours(memory: Writing) -> None:
    one, two = talk("Which database did we take?", "Postgres.")
    other = artifact(said("Postgres.", 1), run="r2", key="other")
    assert two.id != other.id
    memory.put("s1", [one, other])
    assert titles(ask(memory, "taking a database")) == ["Which database did we take?"]


def test_an_empty_answer_says_what_was_searched(memory: Writing) -> None:
    memory.put("s1", talk("something"))
    memory.put("s2", talk("elsewhere", session="s2"))
    found = ask(memory, "elsewhere", scope=Scope(session="s1"))
    assert found == Found(
        asked=found.asked,
        words=("elsewhere",),
        nowhere=("elsewhere",),
        searched=1,
        left_out=("1 artifact outside of session s1",),
    )
    assert ask(memory, " ?! ").way == "none"
    nothing = ask(memory, "anything", scope=Scope(session="s9"))
    assert (nothing.searched, nothing.cards) == (0, ())


def test_words_that_say_nothing_are_searched_if_there_are_no_others(memory: Writing) -> None:
    memory.put("s1", talk("to be or not to be"))
    found = ask(memory, "to be")
    assert (found.words, found.stopped, titles(found)) == (("to", "be"), (), ["to be or not to be"])


@pytest.mark.parametrize(
    "text", ['"', 'a"b', "AND", "NEAR(", "text:", "*", "^x", "\x00", "(", "-", "\ud800", "x" * 5000, "OR OR"]
)
def test_any_text_can_be_asked(memory: Writing, text: str) -> None:
    memory.put("s1", talk("something"))
    assert ask(memory, text).cards == ()


@pytest.mark.requirement("SEARCH-02")
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("call getUserName now", "user"),
        ("call getUserName now", "getusername"),
        ("call get_user_name now", "getUserName"),
        ("call getUserName now", "get_user_name"),
        ("see store.texts.fields there", "texts"),
        ("see src/app/cacheKeys.py there", "cache keys"),
        ("see src/app/cacheKeys.py there", "src/app/cacheKeys.py"),
        ("it said ECONNREFUSED twice", "econnrefused"),
        ("raised HTTPError: 404", "http error"),
        ("we met in café Zürich", "cafe zurich"),
        ("昨日は東京都に行った", "東京"),
        ("검색 결과를 보았다", "결과"),
        ("猫がいる", "猫が"),
    ],
)
def test_pieces_of_names_and_other_scripts_are_found(memory: Writing, text: str, question: str) -> None:
    memory.put("s1", [artifact(said(text, speaker="x")), artifact(said("nothing of that", 9, speaker="x"))])
    assert titles(ask(memory, question)) == [text]


@pytest.mark.requirement("SEARCH-02")
def test_a_word_in_a_field_of_its_own_counts_more(memory: Writing) -> None:
    memory.put("s1", [artifact(said("cache it", 0)), artifact(said("it", 50, paths=("src/cache.py",)))])
    found = ask(memory, "cache")
    assert [card.why.matched for card in found.cards if card.why] == [{"paths": ("cache",)}, {"text": ("cache",)}]


def test_words_in_too_many_artifacts_are_pruned_and_told(memory: Writing) -> None:
    limits = Limits(few=3, common=0.02)
    memory.put(
        "s1", [artifact(said(f"common {'rare' if at == 2 else 'plain'}", 9 * at), key=str(at)) for at in range(5)]
    )
    asked = Asked(text="common rare", k=2)
    found = search(memory, asked, Plain(), limits=limits)
    assert (found.way, found.pruned, len(found.cards)) == ("any", ("common",), 1)
    assert found.left_out == ("words in more than 3 artifacts: common",)
    assert search(memory, msgspec.structs.replace(asked, k=1), Plain(), limits=limits).way == "all"
    alone = search(memory, Asked(text="common", k=5), Plain(), limits=limits)
    assert (alone.way, len(alone.cards)) == ("all", 5)
    assert search(memory, Asked(text="common absent", k=5), Plain(), limits=limits).cards == ()


def test_the_rarest_words_come_first_where_there_are_too_many_occurrences(memory: Writing) -> None:
    memory.put(
        "s1", [artifact(said(f"many {'seldom' if at < 2 else 'plain'}", 9 * at), key=str(at)) for at in range(6)]
    )
    found = search(memory, Asked(text="seldom many absent"), Plain(), limits=Limits(occurrences=5))
    assert (found.pruned, found.weighed) == (("many",), 2)
    assert found.left_out == ("words beyond 5 occurrences of rarer ones: many",)


def test_what_was_concluded_is_weighed_however_much_was_said(memory: Writing) -> None:
    memory.put("s1", [artifact(said("parser slow", 9 * at), key=str(at)) for at in range(30)])
    memory.put("s2", [artifact(decision("the parser stays"), session="s2")])
    found = search(memory, Asked(text="slow parser", k=40), Plain(), limits=Limits(coarse=5, read=5))
    assert Type.DECISION in {card.type for card in found.cards}
    whole = search(memory, Asked(text="parser", k=4), Plain(), limits=Limits(whole=5, coarse=5, read=5))
    assert (whole.way, whole.cards[0].type) == ("all", Type.DECISION)
    assert whole.left_out == ("all but the last 5 artifacts with all words",)


def test_words_that_stand_nowhere_in_scope_are_told(memory: Writing) -> None:
    memory.put("s1", [artifact(said("the parser is slow"))])
    memory.put("s2", [artifact(said("mendParser"), session="s2")])
    found = ask(memory, "mendParser slow parser", scope=Scope(session="s1"))
    assert (len(found.cards), found.nowhere) == (1, ("mendparser",))
    assert ask(memory, "mendParser slow parser").nowhere == ()
    assert ask(memory, "slow parser", k=1).nowhere == ()


def test_a_very_long_question_is_not_said_again(memory: Writing) -> None:
    memory.put("s1", [artifact(said("the parser is slow"))])
    found = ask(memory, " ".join(["parser", *(f"word{number}" for number in range(5000))]))
    (left_out,) = found.left_out
    assert left_out == (
        "words beyond the first 32: word31, word32, word33, word34, word35, word36, word37, word38 and 4961 more"
    )
    assert found.question.startswith("parser word0 word1 ")
    assert len(found.question) <= 241


def test_words_beyond_the_most_are_told(memory: Writing) -> None:
    memory.put("s1", talk("one two three"))
    found = search(memory, Asked(text="one two three"), Plain(), limits=Limits(words=2))
    assert (found.words, found.left_out) == (("one", "two"), ("words beyond the first 2: three",))


WORD = st.sampled_from(("parser", "tokens", "cache", "lexer", "retry"))


@given(
    st.lists(st.lists(WORD, min_size=1, max_size=3), min_size=1, max_size=8), st.lists(WORD, min_size=1, max_size=3)
)
@settings(max_examples=60, deadline=None)
def test_what_has_all_words_is_among_what_has_some_and_before_it(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], question: list[str]
) -> None:
    with new_memory(tmp_path_factory.mktemp("memory") / "derived") as memory:
        made = [artifact(said(" ".join(text), 9 * at), key=str(at)) for at, text in enumerate(texts)]
        memory.put("s1", made)
        every = {each.id for each, text in zip(made, texts, strict=True) if set(question) <= set(text)}
        some = ask(memory, " ".join(question), k=50)
        assert {card.id for card in some.cards} == {
            each.id for each, text in zip(made, texts, strict=True) if set(question) & set(text)
        }
        assert {card.id for card in some.cards[: len(every)]} == every
        if every:
            whole = ask(memory, " ".join(question), k=len(every))
            assert (whole.way, {card.id for card in whole.cards}) == ("all", every)


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_question_fails(memory: Writing, text: str) -> None:
    memory.put("s1", talk("something", text))
    assert ask(memory, text).searched == 2


@pytest.mark.requirement("SEARCH-06")
def test_an_answer_says_how_long_it_is(memory: Writing) -> None:
    memory.put("s1", talk("word " * 400))
    found = ask(memory, "word", max_snippet_tokens=20)
    assert Plain().count(found.cards[0].snippet) <= 20
    assert found.tokens == Plain().count(f"{found.cards[0].title} {found.cards[0].snippet}")
