"""What our search is measured beside: FTS5 as most use it, and tantivy."""

import importlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw

from blackbird.artifacts.model import Artifact
from blackbird.store.texts import said

_WORDS = re.compile(r"\w+")
Row = tuple[str, str, str]


def text_of(artifact: Artifact) -> str:
    """All that an artifact says, as one text."""
    found = said(artifact)
    return "\n".join((artifact.title, found.text, *found.paths, *found.symbols, *found.errors))


class PlainFts:
    """One FTS5 table with the texts in it, its own tokenizer, words joined by OR, and a join for the session."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: apsw.Connection | None = None

    @property
    def _database(self) -> apsw.Connection:
        if self._connection is None:
            is_new = not self._path.exists()
            self._connection = apsw.Connection(str(self._path))
            self._connection.pragma("journal_mode", "wal")
            self._connection.pragma("synchronous", "normal")
            if is_new:
                self._connection.execute(
                    "CREATE TABLE about (number INTEGER PRIMARY KEY, id TEXT, session TEXT);"
                    "CREATE INDEX about_session ON about (session);"
                    "CREATE VIRTUAL TABLE words USING fts5(text);"
                )
        return self._connection

    def add(self, rows: Iterable[Row]) -> None:
        """Take artifacts in, in one transaction."""
        with self._database as database:
            for identifier, session, text in rows:
                database.execute("INSERT INTO about (id, session) VALUES (?, ?)", (identifier, session))
                database.execute(
                    "INSERT INTO words (rowid, text) VALUES (?, ?)", (database.last_insert_rowid(), text)
                )

    def finish(self) -> None:
        """Everything into one file."""
        self._database.pragma("wal_checkpoint(truncate)")

    def search(self, text: str, session: str | None, k: int) -> list[str]:
        """The ids of the best."""
        query = " OR ".join(f'"{word}"' for word in _WORDS.findall(text))
        scope = "AND about.session = ?" if session is not None else ""
        sql = (
            "SELECT about.id FROM words JOIN about ON about.number = words.rowid"  # noqa: S608 (texts of ours)
            f" WHERE words MATCH ? {scope} ORDER BY bm25(words) LIMIT ?"
        )
        values = [query, *([session] if session is not None else []), k]
        return [str(row[0]) for row in self._database.execute(sql, values)]


class Tantivy:
    """A tantivy index: stemmed English, words joined by OR, and the session as a term that must be there."""

    def __init__(self, module: Any, path: Path) -> None:
        self._module = module
        self._path = path
        self._opened: Any = None
        self._writing: Any = None

    @classmethod
    def there_is(cls, path: Path) -> "Tantivy | None":
        """If it is installed, which it is with the extra `bench`."""
        try:
            return cls(importlib.import_module("tantivy"), path)
        except ImportError:
            return None

    @property
    def _index(self) -> Any:
        if self._opened is None:
            builder = self._module.SchemaBuilder()
            builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
            builder.add_text_field("session", tokenizer_name="raw", index_option="basic")
            builder.add_text_field("text", tokenizer_name="en_stem")
            self._path.mkdir(exist_ok=True)
            self._opened = self._module.Index(builder.build(), path=str(self._path))
        return self._opened

    def add(self, rows: Iterable[Row]) -> None:
        """Take artifacts in; they can be found when it is finished."""
        if self._writing is None:
            self._writing = self._index.writer(heap_size=128 << 20, num_threads=1)
        for identifier, session, text in rows:
            self._writing.add_document(self._module.Document(id=[identifier], session=[session], text=[text]))

    def finish(self) -> None:
        """Commit, and wait for the segments to be merged."""
        if self._writing is not None:
            self._writing.commit()
            self._writing.wait_merging_threads()
            self._writing = None
        self._index.reload()

    def search(self, text: str, session: str | None, k: int) -> list[str]:
        """The ids of the best."""
        index, module = self._index, self._module
        words = index.parse_query(" ".join(_WORDS.findall(text.lower())), ["text"])
        if session is not None:
            term = module.Query.term_query(index.schema, "session", session)
            words = module.Query.boolean_query([(module.Occur.Must, term), (module.Occur.Must, words)])
        searcher = index.searcher()
        return [str(searcher.doc(place)["id"][0]) for _, place in searcher.search(words, k).hits]
