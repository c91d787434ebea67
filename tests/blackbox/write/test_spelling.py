"""Values as words, quotes, lists and blocks of lines."""

import pytest

from blackbox.events.messages import Todo, Todos
from blackbox.write import spelling


def test_a_block_shows_what_a_line_would_lose() -> None:
    assert spelling.block(" a \n\nb\t") == [" a\\s", "\\e", "b\\t"]
    assert spelling.block_behind(" a \n b") == ["\\sa\\s", " b"]
    assert spelling.block("") == ["\\e"]


@pytest.mark.parametrize(
    ("text", "word", "quoted"),
    [
        ("plain", "plain", '"plain"'),
        ("a b", "a\\sb", '"a b"'),
        ('"→\n', '\\"\\→\\n', '"\\"\\→\\n"'),
        ("[x]", "\\[x]", '"[x]"'),
        ("\\", "\\\\", '"\\\\"'),
    ],
)
def test_one_value_as_word_and_in_quotes(text: str, word: str, quoted: str) -> None:
    assert (spelling.word(text), spelling.quoted(text)) == (word, quoted)


@pytest.mark.parametrize(("text", "balanced"), [("a [b] c", "a [b] c"), ("a ] b", "a \\] b"), ("]a[", "\\]a\\[")])
def test_brackets_within_brackets_pair_up(text: str, balanced: str) -> None:
    assert spelling.balance(text) == balanced


def test_todos_are_written_as_they_stand_or_from_their_items() -> None:
    listed = spelling.todos_of([Todo("pending", "a"), Todo("odd", "b")])
    assert spelling.todos(listed) == "[pending] a\n[odd] b"
    assert spelling.todos(Todos((Todo("pending", "a"),), "something else")) == "[pending] a"
