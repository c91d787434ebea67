"""Ids of sessions and tasks: taken from words where somebody can read them, else made up."""

import functools
import hashlib
import os
import re
import time
import unicodedata
from collections.abc import Container

from blackbird.recorder import names
from blackbird.trace import ids
from blackbox.errors import UsageError
from blackbox.redaction.redactor import Redactor

_OTHER = re.compile(r"[^a-z0-9]+")
#: Long enough to be told from others, short enough to be typed.
_LONGEST_SLUG = 40
_RANDOM_BYTES = 10
_NS_PER_MS = 1_000_000


def checked(what: str, text: str) -> str:
    """An id that was given. Raises `UsageError` if it is none."""
    if names.is_name(text):
        return text
    shown = text if text.isprintable() else ascii(text)
    raise UsageError(f"{what}: `{shown}` is no id", names.REMEDY)


def new_session() -> str:
    """An id that no other session has, as the recorder makes them."""
    stamp = (time.time_ns() // _NS_PER_MS).to_bytes(6, "big")
    return "sess_" + ids.to_text(stamp + os.urandom(_RANDOM_BYTES))


@functools.cache
def _redactor() -> Redactor:
    return Redactor()


def slug(title: str) -> str:
    """An id made of a title without its secrets, the same each time; of one without a letter of ours, a digest."""
    title = _redactor().redact(title).text
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = _OTHER.sub("-", plain).strip("-")
    if not words:
        return "task-" + hashlib.sha256(title.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    if len(words) <= _LONGEST_SLUG:
        return words
    cut = words.rfind("-", _LONGEST_SLUG // 2, _LONGEST_SLUG)
    return words[: cut if cut > 0 else _LONGEST_SLUG]


def free(title: str, taken: Container[str]) -> str:
    """An id made of a title that nothing else has: with a number behind it where need be."""
    first = slug(title)
    number, found = 1, first
    while found in taken:
        number += 1
        found = f"{first}-{number}"
    return found


def line(text: str) -> str:
    """A title: one line, and not an empty one. Raises `UsageError`."""
    found = " ".join(text.split())
    if not found:
        raise UsageError("a task needs a title", "say in a few words what is to be done")
    return found
