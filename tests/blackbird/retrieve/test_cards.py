"""Cards are bounded, and their snippets are around the best match."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.model import Change, Type
from blackbird.retrieve.cards import card, snippet
from blackbird.retrieve.model import Card
from blackbird.retrieve.plan import plan
from blackbird.store.index import Tokenizer
from blackbird.store.memory import Stored
from blackbird.tokens import Plain
from tests.blackbird.retrieve.artifacts import NOW, artifact, decision, outcome, said

TOKENS = Tokenizer(apsw.Connection(":memory:")).tokens


@pytest.mark.requirement("SEARCH-06")
def test_a_card_says_what_it_is_and_where_it_comes_from() -> None:
    made = artifact(outcome("Mended it", files=tuple(Change(path=f"{at}.py") for at in range(20))), task="t1")
    assert card(Stored(made, is_expired=True), Plain(), 60, score=0.5) == Card(
        id=made.id,
        type=Type.OUTCOME,
        title="Mended it",
        snippet="Mended it",
        score=0.5,
        session="s1",
        task="t1",
        run="r1",
        at=NOW,
        files=tuple(f"{at}.py" for at in range(8)),
        state="success",
        is_expired=True,
    )


def test_a_snippet_is_around_where_most_words_stand() -> None:
    text = "cache " + "filler words go on " * 60 + "we keep the cache of parsed tokens in memory " + "and so on " * 60
    terms = plan("cache of parsed tokens", TOKENS, 9).terms
    found = card(Stored(artifact(said(text))), Plain(), 30, terms=terms, tokens=TOKENS).snippet
    assert "cache of parsed tokens in memory" in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert Plain().count(found) <= 30


def test_a_snippet_in_a_script_without_blanks() -> None:
    text = "前" * 600 + "検索結果" + "後" * 600
    found = card(
        Stored(artifact(said(text))), Plain(), 40, terms=plan("検索", TOKENS, 9).terms, tokens=TOKENS
    ).snippet
    assert "検索" in found


@pytest.mark.requirement("SEARCH-06")
@given(st.text(max_size=400), st.integers(0, 500), st.integers(1, 60))
def test_no_snippet_is_longer_than_allowed(text: str, start: int, most: int) -> None:
    found = snippet(text, start, Plain(), most)
    assert Plain().count(found) <= most
    assert found.strip("…") in text


def test_titles_are_one_short_line() -> None:
    assert card(Stored(artifact(decision("x"), title="a\nb " * 200)), Plain(), 9).title == "a b " * 29 + "a b…"
