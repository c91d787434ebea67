"""Which blobs a text mentions, in whatever form it does."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blackbox.syntax.values import integer

#: `sha256=…` as in a pointer, and `"sha256": "…"` as in JSON, which may stand in a string itself. Any number of
#: digits: a short hash is a prefix, and one that was cut short still says what has to be kept.
_NAMED = r"(?P<at>@blob[ \t]+)?sha256\\*\"?[ \t]*[=:][ \t]*\\*\"?(?P<digits>[0-9a-fA-F]{1,64})(?![0-9a-fA-F])"
_POINTER = r"(?:[ \t]+bytes=(?P<bytes>\d{1,18}))?(?:[ \t]+mime=(?P<mime>[^ \t\r\n\]\"\\]+))?"
_BARE = r"(?<![0-9a-fA-F])(?P<bare>[0-9a-f]{64})(?![0-9a-fA-F])"
_MENTION = re.compile(f"{_NAMED}{_POINTER}|{_BARE}", re.ASCII)


class Mention(NamedTuple):
    """A blob that a text names: its hash or the first digits of it, and what else the pointer says."""

    digits: str
    bytes: int | None = None
    mime: str | None = None
    #: Whether it is `@blob …`. Any other hash may be one of something else; what has it is kept all the same.
    is_pointer: bool = False


def mentions(text: str) -> list[Mention]:
    """The blobs that a text mentions, in order."""
    return [
        Mention((match["bare"] or match["digits"]).lower(), integer(match["bytes"]), match["mime"], bool(match["at"]))
        for match in _MENTION.finditer(text)
    ]


class Names:
    """The blobs there are, to be found by any of their first digits."""

    def __init__(self, names: Iterable[str]) -> None:
        self._sorted = sorted(names)
        self._known = frozenset(self._sorted)

    def matching(self, digits: str) -> Iterator[str]:
        """Every blob whose hash begins so."""
        if len(digits) == 64:
            yield from {digits} & self._known
            return
        yield from (name for name in self._sorted if name.startswith(digits))
