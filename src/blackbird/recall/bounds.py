"""Long artifacts, cut to what an agent can read in one go: the longest parts give way, short ones stay whole."""

from typing import Any

import msgspec

from blackbird.artifacts.model import Artifact
from blackbird.recall.model import Cut
from blackbird.tokens import Counter

#: What one artifact may take: twice a pack, so that whoever follows some of its pointers does not drown in one.
MOST_TOKENS = 3000
_PROVENANCE = "provenance"
_ENDING = " …"
#: What each part may take in any case; only a bound far below the usual one would leave it less.
_LEAST = 20


def bounded(artifact: Artifact, counter: Counter, most: int | None) -> tuple[Artifact, tuple[Cut, ...]]:
    """The artifact within a number of tokens as JSON, if one is given, and what of it was cut."""
    if most is None or size(artifact, counter) <= most:
        return artifact, ()
    content = artifact.content
    parts: dict[str, Any] = {name: getattr(content, name) for name in content.__struct_fields__}
    parts[_PROVENANCE] = artifact.provenance
    sizes = {name: size(value, counter) for name, value in parts.items()}
    frame = size(artifact, counter) - sum(sizes.values())
    level = _level(sorted(sizes.values()), most - frame)
    cuts: list[Cut] = []
    for name, value in parts.items():
        if sizes[name] > level and type(value) in (str, tuple):
            kept = _fitting(value, level, counter)
            if kept == len(value):
                continue
            parts[name] = value[:kept] + _ENDING if isinstance(value, str) else value[:kept]
            unit = "characters" if isinstance(value, str) else "entries"
            cuts.append(Cut(part=name, kept=kept, of=len(value), unit=unit))
    provenance = parts.pop(_PROVENANCE)
    cut = msgspec.structs.replace(content, **parts)
    return msgspec.structs.replace(artifact, content=cut, provenance=provenance), tuple(cuts)


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
