"""The index of words: an FTS5 table beside the artifacts, in the same file and the same transactions.

It has no copy of the texts. What could not be indexed at once waits; whoever searches looks at it without one.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import apsw
import msgspec

from blackbird.artifacts.model import Artifact
from blackbird.store.texts import Fields, fields

TABLES = """
CREATE VIRTUAL TABLE words USING fts5(
    scope, head, text, paths, symbols, errors,
    content='', contentless_delete=1, detail=column, tokenize="porter unicode61 remove_diacritics 2"
);
CREATE TABLE waiting (number INTEGER PRIMARY KEY);
"""
_INSERT = "INSERT INTO words (rowid, scope, head, text, paths, symbols, errors) VALUES (?, ?, ?, ?, ?, ?, ?)"
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
_DOCUMENT = apsw.FTS5_TOKENIZE_DOCUMENT
_NUMBERS = msgspec.json.Decoder(list[int])
_ARTIFACT = msgspec.json.Decoder(Artifact)


class Token(NamedTuple):
    """A word of a text: its stem, and where it stands, in characters."""

    stem: str
    first: int
    last: int


class Tokenizer:
    """Takes texts apart as the index does."""

    def __init__(self, database: apsw.Connection) -> None:
        name, arguments = _TOKENIZER
        self._tokenizer = database.fts5_tokenizer(name, arguments)

    def stems(self, text: str) -> list[str]:
        """The stems of a text, in order."""
        found = self._tokenizer(_utf8(text), _DOCUMENT, None, include_offsets=False, include_colocated=False)
        return cast("list[str]", found)

    def tokens(self, text: str) -> list[Token]:
        """The stems of a text with their places."""
        found = cast(
            "list[tuple[int, int, str]]", self._tokenizer(_utf8(text), _DOCUMENT, None, include_colocated=False)
        )
        if text.isascii():
            return [Token(stem, first, last) for first, last, stem in found]
        places = _characters(text)
        return [Token(stem, places[first], places[last]) for first, last, stem in found]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _characters(text: str) -> list[int]:
    """For each byte of a text in UTF-8 the character that it belongs to, and one more for the end."""
    places: list[int] = []
    for at, character in enumerate(text):
        places += [at] * len(_utf8(character))
    return [*places, len(text)]


def quoted(word: str, field: str | None = None) -> str:
    """A word in the language of queries."""
    inner = word.replace('"', '""')
    return f'{field} : "{inner}"' if field is not None else f'"{inner}"'


def add(database: apsw.Connection, rows: Iterable[tuple[int, Artifact]]) -> None:
    """Index artifacts, each under its number, in place of what was indexed of it before."""
    for number, artifact in rows:
        remove(database, [number])
        database.execute(_INSERT, (number, *_storable(fields(artifact))))


def remove(database: apsw.Connection, numbers: Iterable[int]) -> None:
    """Take artifacts out of the index."""
    for number in numbers:
        database.execute("DELETE FROM words WHERE rowid = ?", (number,))
        database.execute("DELETE FROM waiting WHERE number = ?", (number,))


def defer(database: apsw.Connection, numbers: Iterable[int]) -> None:
    """Leave artifacts for later; nothing old may be found of them until then."""
    for number in numbers:
        database.execute("DELETE FROM words WHERE rowid = ?", (number,))
        database.execute("INSERT OR IGNORE INTO waiting VALUES (?)", (number,))


def take_waiting(database: apsw.Connection, most: int) -> int:
    """Index some of what waits; how many it were."""
    query = "SELECT number, body FROM waiting JOIN artifact USING (number) ORDER BY number LIMIT ?"
    rows = [(number, _ARTIFACT.decode(body)) for number, body in database.execute(query, (most,))]
    add(database, rows)
    return len(rows)


def numbers(database: apsw.Connection, expression: str, most: int) -> list[int]:
    """The numbers of the artifacts that a query finds, the newest first, and no more than asked for."""
    # One text of all numbers is read in half the time that so many rows take.
    query = (
        "SELECT json_group_array(rowid) FROM"
        " (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)"
    )
    return _NUMBERS.decode(next(iter(database.execute(query, (expression, most))))[0])


def check(database: apsw.Connection) -> None:
    """Have the index look at itself. Raises `CorruptError` if it is not whole."""
    database.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def _storable(found: Fields) -> Sequence[str]:
    # Lone surrogates are no UTF-8, and no word that anybody searches for.
    return [field if field.isascii() else _utf8(field).decode() for field in found]
