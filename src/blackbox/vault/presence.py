"""What became of the blobs that a log names: kept whole, missing, damaged, or kept where nobody can look."""

import enum
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from blackbox.vault.references import Names
from blackbox.vault.store import LEAST_DIGITS, BlobStore, State


class Presence(enum.StrEnum):
    """How a blob stands."""

    WHOLE = "whole"
    MISSING = "missing"
    #: A file has its name and other content.
    DAMAGED = "damaged"
    #: The hash in the log is a prefix of several blobs.
    AMBIGUOUS = "ambiguous"
    #: There is no store beside the log: its blobs may be in an object store, or were left behind.
    NO_STORE = "no store"


class Held(NamedTuple):
    """A blob as it was found: how it stands, and its size if it is there."""

    presence: Presence
    size: int | None = None


#: Looks at one blob, named by its hash or a prefix of it.
LookAt = Callable[[str], Held]


def look_beside(log: str | os.PathLike[str]) -> LookAt:
    """A function that looks at the blobs beside a log. Each is read and verified once, however often it is named."""
    store = BlobStore.beside(Path(os.path.realpath(log)))
    if not store.is_there:
        return lambda _digits: Held(Presence.NO_STORE)
    entries = {entry.name: entry for entry in store.entries()}
    names = Names(entries)
    seen: dict[str, Held] = {}

    def look_at(digits: str) -> Held:
        found = list(names.matching(digits)) if len(digits) >= LEAST_DIGITS else []
        if len(found) != 1:
            return Held(Presence.AMBIGUOUS if found else Presence.MISSING)
        name = found[0]
        if name not in seen:
            verdict = store.look(entries[name])
            is_whole = verdict.state is State.OK
            seen[name] = Held(Presence.WHOLE if is_whole else Presence.DAMAGED, verdict.bytes)
        return seen[name]

    return look_at
