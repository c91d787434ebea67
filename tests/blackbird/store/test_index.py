"""The index: every word is found, it says the same as one made anew, and nothing waits for it."""

import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blackbird.artifacts.model import Artifact
from blackbird.retrieve.model import Asked
from blackbird.retrieve.search import search
from blackbird.store import writing
from blackbird.store.index import Token, quoted
from blackbird.store.memory import Memory
from blackbird.store.texts import fields
from blackbird.store.writing import Writing
from blackbird.tokens import Plain
from tests.blackbird.retrieve.artifacts import artifact, decision, new_memory, said, talk

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("aB_./0京猫 \n"), max_size=60)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Writing:
    return new_memory(tmp_path_factory.mktemp("shared") / "derived")


def terms(memory: Memory) -> list[tuple[object, ...]]:
    """All that the index has: each word, in which field, of which artifact."""
    memory._database.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, instance)"
    )
    query = "SELECT term, col, id FROM temp.vocabulary JOIN artifact ON number = doc ORDER BY term, col, id"
    return list(memory._database.execute(query))


@given(st.lists(TEXTS, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_indexed_word_is_found(shared: Writing, texts: list[str]) -> None:
    made = [artifact(said(text, at), key=str(at)) for at, text in enumerate(texts)]
    shared.put("s1", made)
    numbers = dict(shared._database.execute("SELECT id, number FROM artifact"))
    for each in made:
        spelling = fields(each).text
        for token in shared.tokenizer.tokens(spelling):
            word = spelling[token.first : token.last]
            assert numbers[each.id] in shared.matching(quoted(word), 100)


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), TEXTS), max_size=4), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_the_index_is_that_of_a_memory_made_anew(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[int, str]]]
) -> None:
    folder = tmp_path_factory.mktemp("memory")
    with new_memory(folder / "one") as grown, new_memory(folder / "two") as anew:
        made: list[Artifact] = []
        for step in steps:
            made = [artifact(said(text, key), key=str(key)) for key, text in dict(step).items()]
            grown.put("s1", made)
        anew.put("s1", made)
        assert terms(grown) == terms(anew)
        assert list(grown.dump()) == list(anew.dump())
        assert (grown.tally(), grown.counts()) == (anew.tally(), anew.counts())
        grown._database.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 0)")


def test_tokens_know_where_they_stand(shared: Writing) -> None:
    assert shared.tokenizer.tokens("Über Straßen, 東京 ran") == [
        Token("uber", 0, 4),
        Token("straßen", 5, 12),
        Token("東京", 14, 16),
        Token("ran", 17, 20),
    ]
    assert shared.tokenizer.stems("Running quickly") == ["run", "quickli"]


@pytest.mark.requirement("SEARCH-11")
def test_what_is_not_indexed_yet_is_found_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_AT_ONCE", 2)
    with new_memory(tmp_path / "derived") as memory:
        memory.put("s1", talk("first word", "second word"))
        memory.put("s2", [artifact(said(f"late word {at}", 10 * at), session="s2") for at in range(3)])
        assert len(memory.waiting(10)) == 3
        assert len(memory.matching(quoted("word"), 10)) == 2
        asked = Asked(text="word", k=10)
        before = search(memory, asked, Plain())
        assert sorted(card.title for card in before.cards) == [
            "first word",
            "late word 0",
            "late word 1",
            "late word 2",
            "second word",
        ]
        assert search(memory, Asked(text="late"), Plain()).weighed == 3
        assert memory.index() == 3
        assert (memory.index(), memory.waiting(10)) == (0, {})
        assert search(memory, asked, Plain()) == before


def test_what_changes_while_it_waits_is_found_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_memory(tmp_path / "derived") as memory:
        memory.put("s1", talk("old", "old too"))
        monkeypatch.setattr(writing, "_AT_ONCE", 0)
        memory.put("s1", talk("new", "old too"))
        titles = {
            word: [card.title for card in search(memory, Asked(text=word), Plain()).cards] for word in ("old", "new")
        }
        assert titles == {"old": ["old too", "new"], "new": ["new", "old too"]}
        memory.put("s1", [])
        assert memory.waiting(10) == {}
        assert memory.index() == 0


def test_one_question_sees_one_state(tmp_path: Path) -> None:
    with new_memory(tmp_path / "derived") as memory:
        memory.put("s1", talk("one"))
        with Memory(memory.path) as reader, reader.at_once():
            assert reader.tally() == 1
            memory.put("s1", talk("one", "two"))
            assert reader.tally() == 1
            assert len(reader.matching(quoted("two"), 5)) == 0
        with Memory(memory.path) as reader:
            assert reader.tally() == 2


@pytest.mark.requirement("STORE-03")
def test_readers_search_while_one_writes(tmp_path: Path) -> None:
    with new_memory(tmp_path / "derived") as memory:
        memory.put("s1", [artifact(decision(f"round 0 of {at}"), key=str(at)) for at in range(20)])
        stopping = threading.Event()
        seen: list[set[str]] = []
        failures: list[str] = []

        def read() -> None:
            try:
                with Memory(memory.path) as reader:
                    while not stopping.is_set():
                        cards = search(reader, Asked(text="round", k=20), Plain()).cards
                        seen.append({card.title.split()[1] for card in cards})
                        assert len(cards) == 20
            except Exception as error:  # noqa: BLE001 - whatever it is, the test is to tell it
                failures.append(repr(error))

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for turn in range(1, 40):
            memory.put("s1", [artifact(decision(f"round {turn} of {at}"), key=str(at)) for at in range(20)])
        stopping.set()
        for reader in readers:
            reader.join()
        assert failures == []
        assert all(len(rounds) == 1 for rounds in seen)
        assert memory._database.pragma("integrity_check") == "ok"
