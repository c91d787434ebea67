"""Normal forms: one line of any text, and the form in which the same statement, subject or choice is known again."""

import re
import unicodedata

_LONGEST = 240
_BLANKS = re.compile(r"\s+")
_MARKUP = re.compile(r"[*`\"“”‘’]+|(?<!\w)[_~]+|[_~]+(?!\w)")
_NO_WORD = re.compile(r"[^\w./:@#+-]+")
_ENDS = ".,;:!?-"
_LEADING = frozenset(
    "a an the our your my their its this that these those please just ok okay so and but also now then well".split()
)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """A text as one line, cut at a word where it is too long."""
    line = _BLANKS.sub(" ", text).strip()
    if len(line) <= longest:
        return line
    cut = line.rfind(" ", longest // 2, longest)
    return line[: cut if cut > 0 else longest].rstrip() + "…"


def statement(text: str) -> str:
    """A statement without what may differ when it is said again: case, marks, blanks, polite words at its start."""
    words = _words(text)
    while words and words[0] in _LEADING:
        words = words[1:]
    return " ".join(words)


def subject(text: str) -> str | None:
    """What something is about, as a key: without articles and the like."""
    words = [word for word in _words(text) if word not in _LEADING]
    return " ".join(words) or None


def choice(text: str) -> str:
    """What was chosen, as a key."""
    return " ".join(_words(text))


def _words(text: str) -> list[str]:
    plain = _MARKUP.sub(" ", unicodedata.normalize("NFKC", text).lower())
    return [word for word in (piece.strip(_ENDS) for piece in _NO_WORD.sub(" ", plain).split()) if word]
