"""The cases of fixtures/redaction/corpus.txt, read as the page beside it says."""

import re
from pathlib import Path
from typing import NamedTuple

_MARKED = re.compile(r"⟦([a-z0-9_]+)\|([^⟧]*)⟧")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


class Case(NamedTuple):
    """A line of the corpus: what goes in, what comes out, the kinds of its secrets."""

    line: int
    heading: str
    text: str
    clean: str
    kinds: list[str]


def read_corpus() -> list[Case]:
    """All cases."""
    path = Path(__file__).parents[3] / "fixtures" / "redaction" / "corpus.txt"
    cases, heading = [], ""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if line.startswith("## "):
            heading = line[3:]
        elif line.strip():
            marked = line.replace("·", "")
            text = _plain(_MARKED.sub(r"\2", marked))
            clean = _plain(_MARKED.sub(r"[redacted:\1]", marked))
            cases.append(Case(number, heading, text, clean, [match[1] for match in _MARKED.finditer(marked)]))
    return cases


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES[match[1]], text)
