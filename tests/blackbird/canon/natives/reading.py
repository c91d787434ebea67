"""Feeds lines to a reader and checks that each text stands where its spans say."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from blackbird.canon.model import Evidence, Part, Side
from blackbird.canon.natives import READERS
from blackbird.canon.seen import Entry
from tests.blackbird.canon.dialects.placed import bare, is_placed

SOURCE = "src_test"

#: Any JSON value.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)

Line = str | Mapping[str, Any]


def read(form: str, file: str, lines: Iterable[Line], *, is_checked: bool = True) -> list[Entry]:
    """All entries of a file."""
    reader = READERS[form](SOURCE, file)
    known: dict[int, bytes] = {}
    entries: list[Entry] = []
    offset = 0
    for line in lines:
        text = line if isinstance(line, str) else json.dumps(line, separators=(",", ":"), ensure_ascii=False)
        data = text.encode(errors="surrogatepass")
        known[offset] = data
        evidence = Evidence(
            source=SOURCE,
            side=Side.LINE,
            start=0,
            end=len(data),
            segment=1,
            sequence=offset,
            file=file,
            offset=offset,
        )
        entries += reader.line(text, evidence)
        offset += len(data) + 1
    entries += reader.end()
    for entry in entries if is_checked else ():
        assert entry.turn is None or is_placed(entry.turn.parts, known[entry.evidence.offset or 0])
    return entries


def parts(entry: Entry) -> list[Part]:
    """The parts of an entry's turn, without their places."""
    assert entry.turn is not None
    return [bare(part) for part in entry.turn.parts]


def marks(entries: Iterable[Entry]) -> list[tuple[str, str]]:
    """The marks of some entries, and what they say."""
    return [(entry.mark, entry.text) for entry in entries if entry.mark is not None]
