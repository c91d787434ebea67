"""What the logs around a store say of its blobs, and what of that is there: the ground for listing and clearing."""

import datetime as dt
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from blackbox.document.files import open_log
from blackbox.vault.references import Mention, Names, mentions
from blackbox.vault.store import LEAST_DIGITS, BlobStore, Entry, files_around


class Use(NamedTuple):
    """A line that mentions a blob."""

    file: str
    line: int
    mention: Mention


class Survey(NamedTuple):
    """The blobs of a store with the lines that mention each, and the pointers that lead nowhere."""

    store: BlobStore
    uses: dict[str, list[Use]]
    missing: dict[str, list[Use]]


class Sweep(NamedTuple):
    """What can go: blobs that no file mentions, and what stopped writers left. The rest is kept, and counted."""

    blobs: list[Entry]
    leftovers: list[Entry]
    mentioned: int
    recent: int


def survey(store: BlobStore, files: Iterable[Path] | None = None) -> Survey:
    """Read the files (those around the store unless given) and join what they mention with what is there."""
    found = list(_uses(files_around(store) if files is None else files))
    # Listed last: a blob that came while the files were read is there, and is as young as it is.
    names = Names(entry.name for entry in store.entries())
    uses: dict[str, list[Use]] = {}
    missing: dict[str, list[Use]] = {}
    for use in found:
        matching = list(names.matching(use.mention.digits))
        for name in matching:
            uses.setdefault(name, []).append(use)
        if not matching and use.mention.is_pointer and len(use.mention.digits) >= LEAST_DIGITS:
            missing.setdefault(use.mention.digits, []).append(use)
    return Survey(store, uses, missing)


def sweep(store: BlobStore, *, before: dt.datetime) -> Sweep:
    """What can go from a store: what nothing mentions and was last written before that time."""
    mentioned = survey(store).uses
    entries = store.entries()
    idle = [entry for entry in entries if entry.name not in mentioned]
    old = [entry for entry in idle if entry.modified <= before]
    leftovers = [entry for entry in store.leftovers() if entry.modified <= before]
    return Sweep(old, leftovers, len(entries) - len(idle), len(idle) - len(old))


def _uses(files: Iterable[Path]) -> Iterator[Use]:
    for path in files:
        with open_log(path) as source:
            for number, line in enumerate(source, 1):
                if b"sha256" in line or len(line) > 64:
                    text = line.decode(errors="replace")
                    yield from (Use(str(path), number, mention) for mention in mentions(text))
