"""Long artifacts, cut to what an agent can read in one go: the longest parts give way, short ones stay whole."""

from typing import Any

import msgspec

from blackbird.artifacts.model import Artifact, Provenance
from blackbird.recall.model import Cut
from blackbird.tokens import Counter

#: What one artifact may take: twice a pack, so that whoever follows some of its pointers does not drown in one.
MOST_TOKENS = 3000
#: What of an artifact can be long besides its content.
_OUTER = ("title", "provenance")
#: How many characters of a quote tell which words are meant, where there is no room for all of them.
_QUOTE = 300
_ENDING = " …"
#: What each part may take in any case; only a bound far below the usual one would leave it less.
_LEAST = 20


def bounded(artifact: Artifact, counter: Counter, most: int | None) -> tuple[Artifact, tuple[Cut, ...]]:
    """The artifact within a number of tokens as JSON, if one is given, and what of it was cut."""
    if most is None or size(artifact, counter) <= most:
        return artifact, ()
    cuts = [cut for each in artifact.provenance for cut in _long(each)]
    artifact = msgspec.structs.replace(artifact, provenance=tuple(_briefer(each) for each in artifact.provenance))
    content = artifact.content
    parts: dict[str, Any] = {name: getattr(content, name) for name in content.__struct_fields__}
    parts |= {name: getattr(artifact, name) for name in _OUTER}
    sizes = {name: size(value, counter) for name, value in parts.items()}
    frame = size(artifact, counter) - sum(sizes.values())
    level = _level(sorted(sizes.values()), most - frame)
    for name, value in parts.items():
        if sizes[name] > level and type(value) in (str, tuple):
            kept = _fitting(value, level, counter)
            if kept == len(value):
                continue
            parts[name] = value[:kept] + _ENDING if isinstance(value, str) else value[:kept]
            unit = "characters" if isinstance(value, str) else "entries"
            cuts.append(Cut(part=name, kept=kept, of=len(value), unit=unit))
    outer = {name: parts.pop(name) for name in _OUTER}
    told = msgspec.structs.replace(artifact, content=msgspec.structs.replace(content, **parts), **outer)
    return told, tuple(cuts)


def _long(pointer: Provenance) -> list[Cut]:
    length = len(pointer.quote)
    return [Cut(part="quote", kept=_QUOTE, of=length, unit="characters")] if length > _QUOTE else []


def _briefer(pointer: Provenance) -> Provenance:
    return msgspec.structs.replace(pointer, quote=pointer.quote[:_QUOTE] + _ENDING) if _long(pointer) else pointer


def size(value: Any, counter: Counter) -> int:
    """How many tokens a value is as JSON, which is how programs get it."""
    return counter.count(msgspec.json.encode(value).decode())


def _level(sizes: list[int], most: int) -> int:
    """The size to which parts, given by size, are to be cut so that all together fit."""
    left = most
    for at, each in enumerate(sizes):
        share = left // (len(sizes) - at)
        if each > share:
            return max(share, _LEAST)
        left -= each
    return sizes[-1]


def _fitting(value: str | tuple[Any, ...], most: int, counter: Counter) -> int:
    """How many of the first characters or entries of a value fit; one entry always does."""
    low, high = 0 if isinstance(value, str) else min(1, len(value)), len(value)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(value[:middle], counter) <= most else (low, middle - 1)
    return low
