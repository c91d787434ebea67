"""A question becomes words."""

import apsw
import pytest

from blackbird.retrieve.plan import Plan, Term, plan
from blackbird.store.index import Tokenizer

TOKENS = Tokenizer(apsw.Connection(":memory:")).tokens


def test_words_that_say_nothing_are_stopped() -> None:
    assert plan("What did we decide about caching?", TOKENS, 9) == Plan(
        (Term("decide", "decid"), Term("caching", "cach")), ("what", "did", "we", "about")
    )
    assert plan("What is it?", TOKENS, 9).terms == (Term("what", "what"), Term("is", "is"), Term("it", "it"))


def test_each_word_counts_once_and_no_more_than_so_many() -> None:
    found = plan("cache caches caching second third", TOKENS, 2)
    assert found == Plan((Term("cache", "cach"), Term("second", "second")), beyond=("third",))


def test_names_are_searched_whole_or_in_pieces() -> None:
    found = plan("userNames src/some_file.py", TOKENS, 9).terms
    assert found[0] == Term("usernames", "usernam", (("user", "user"), ("names", "name")))
    assert found[0].expression == '("usernames" OR ("user" AND "names"))'
    assert [term.word for term in found[1:]] == ["src", "file", "py"]
    assert found[0].stands({"user", "name"})
    assert found[0].stands({"usernam"})
    assert not found[0].stands({"user"})


def test_scripts_without_blanks_are_searched_in_pairs() -> None:
    assert [term.word for term in plan("東京都 cat検索", TOKENS, 9).terms] == ["東京", "京都", "cat", "検索"]


@pytest.mark.parametrize("text", ["", " \n", "?!"])
def test_a_question_without_words_has_none(text: str) -> None:
    assert plan(text, TOKENS, 9).terms == ()
