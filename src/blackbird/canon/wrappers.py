"""Tells a user's words from what a client puts around them, by a table.

It would rather leave a wrapper with the user's words than take words from the user: a block counts only where its
tags stand alone on their lines, are closed, and are not inside of a code fence.
"""

import functools
import importlib.resources
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from blackbird.canon.model import Origin, Role

#: The tag around the context that Blackbird gives to an agent.
PACK_TAG = "blackbird-context"

_OWN = {Role.USER: Origin.USER, Role.ASSISTANT: Origin.AGENT, Role.SYSTEM: Origin.SYSTEM}
_BLANKS = re.compile(r"\s*")
#: Some clients escape what they pass on.
_PACK_OPENS = re.compile(rf"(?:<|&lt;){PACK_TAG}\b(?:(?!&gt;)[^<>])*(?:>|&gt;)")
_PACK_CLOSES = re.compile(rf"(?:<|&lt;)/{PACK_TAG}(?:>|&gt;)")
_TAGGED = re.compile(r"\s*<(?P<tag>[\w-]+)[^<>]*>(?P<inner>.*)</(?P=tag)>\s*", re.DOTALL)
_TYPED = re.compile(
    r"\s*<command-name>\s*(?P<name>/?[^<]*?)\s*</command-name>|\s*<command-args>\s*(?P<args>.*?)\s*</command-args>"
    r"|\s*<bash-input>\s*(?P<line>.*?)\s*</bash-input>|\s*<(?P<tag>command-(?:message|contents))>.*?</(?P=tag)>|\s+\Z",
    re.DOTALL,
)


class Piece(NamedTuple):
    """A stretch of a text, by its characters, and whose words it holds."""

    origin: Origin
    first: int
    last: int


class _Tag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    origin: Origin
    names: tuple[str, ...]
    glued: bool = False


class _Opening(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    origin: Origin
    starts: tuple[str, ...]
    until: str | None = None
    roles: tuple[Role, ...] = (Role.USER,)


class _Whole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    origin: Origin
    texts: tuple[str, ...]
    roles: tuple[Role, ...] = (Role.USER,)
    mark: str | None = None


class _Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    origin: Origin
    pattern: str
    before: tuple[str, ...] = ()


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tag: tuple[_Tag, ...]
    opening: tuple[_Opening, ...]
    whole: tuple[_Whole, ...]
    label: tuple[_Label, ...]


class _Rules(NamedTuple):
    """The table, ready to be looked for."""

    tags: dict[str, _Tag]
    openings: tuple[_Opening, ...]
    wholes: dict[tuple[Role, str], Origin]
    marks: dict[str, str]
    #: An opening tag behind blanks; the same, or a code fence, at the start of a line.
    tag: re.Pattern[str]
    line: re.Pattern[str]
    #: What may follow a closing tag.
    behind: str
    #: A label at the start of a text; for each, the paragraphs that start with it, and where such a one ends.
    label: re.Pattern[str]
    paragraphs: tuple[tuple[Origin, re.Pattern[str], re.Pattern[str]], ...]
    #: A tag that lost the other one of its pair.
    lone: re.Pattern[str]


def split(text: str, role: Role) -> list[Piece]:
    """Whose words a text holds, from its start to its end without a gap; the blanks around a wrapper belong to it."""
    if not text:
        return []
    rules = _rules()
    own = _OWN[role]
    whole = rules.wholes.get((role, text.strip()))
    if whole is not None:
        return [Piece(whole, 0, len(text))]
    found = [] if role is Role.ASSISTANT else list(_Search(text, role, rules).wrappers())
    if PACK_TAG in text and role is not Role.ASSISTANT:
        found = _with_packs(text, found, is_open=role is Role.SYSTEM)
    return _cover(text, own, found) if found else [Piece(own, 0, len(text))]


def is_summary(text: str) -> bool:
    """Whether a user's turn holds what a client made of an earlier part of the conversation."""
    return any(piece.origin is Origin.SUMMARY for piece in split(text, Role.USER))


def bare(text: str) -> str:
    """What a client adds, without the tag around it and the label before it: it says no more than that.

    Of a wrapper that something was taken out of, each part has one of the tags.
    """
    rules = _rules()
    tagged = _TAGGED.fullmatch(text)
    inner = tagged["inner"] if tagged is not None else rules.lone.sub("", text)
    label = rules.label.match(inner)
    return inner[label.end() :] if label is not None else inner


class Typed(NamedTuple):
    """What a user typed, and its stretches: from which of its characters on, where in the text they begin and end."""

    words: str
    places: tuple[tuple[int, int, int], ...]


def typed(text: str) -> Typed | None:
    """What a user typed that a client turned into tags: `/name arguments`, or `!` and a line for the shell."""
    found: dict[str, tuple[int, int]] = {}
    at = 0
    while at < len(text):
        tag = _TYPED.match(text, at)
        if tag is None:
            return None
        found |= {key: tag.span(key) for key in ("name", "args", "line") if tag[key]}
        at = tag.end()
    if "line" in found:
        return Typed(f"!{text[slice(*found['line'])]}", ((1, *found["line"]),))
    if "name" not in found:
        return None
    name = text[slice(*found["name"])]
    slash = "" if name.startswith("/") else "/"
    places = [(len(slash), *found["name"])]
    places += [(len(slash) + len(name) + 1, *found["args"])] if "args" in found else []
    given = f" {text[slice(*found['args'])]}" if "args" in found else ""
    return Typed(slash + name + given, tuple(places))


def mark_of(text: str) -> str | None:
    """What a client's words tell of that stands in a timeline by itself: `interrupt`, or nothing."""
    return _rules().marks.get(text.strip())


@functools.cache
def _rules() -> _Rules:
    data = importlib.resources.files("blackbird.canon").joinpath("wrappers.toml").read_text("utf-8")
    table = msgspec.convert(tomllib.loads(data), _Table)
    pack = _Tag(Origin.PACK, (PACK_TAG,))
    tags = {name: tag for tag in (*table.tag, pack) for name in tag.names}
    names = "|".join(re.escape(name) for name in sorted(tags, key=len, reverse=True))
    opening = rf"<(?P<tag>{names})(?:\s[^<>\n]*)?>"
    labels = "|".join(label.pattern for label in table.label)
    return _Rules(
        tags,
        table.opening,
        {(role, text): whole.origin for whole in table.whole for role in whole.roles for text in whole.texts},
        {text: whole.mark for whole in table.whole if whole.mark is not None for text in whole.texts},
        re.compile(rf"\s*(?P<start>{opening})"),
        re.compile(rf"^[ \t]*(?:(?P<fence>`{{3,}}|~{{3,}})|(?P<start>{opening}))", re.MULTILINE),
        rf"(?=[ \t]*(?:\r?\n|\Z|</?(?:{names})\b))",
        re.compile(rf"\s*(?:{labels})"),
        tuple((label.origin, *_paragraph(label, labels)) for label in table.label),
        re.compile(rf"\A\s*<(?:{names})(?:\s[^<>\n]*)?>|</(?:{names})>\s*\Z"),
    )


def _paragraph(label: _Label, labels: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How a paragraph with a label starts, and what starts the one behind it."""
    others = "|".join((labels, *map(re.escape, label.before)))
    behind = r"\n[ \t\r]*\n[ \t]*"
    return re.compile(rf"(?:\A\s*|{behind})(?P<start>{label.pattern})"), re.compile(rf"{behind}(?:{others})")


class _Search:
    """Looks for wrappers in one text, from its start to its end."""

    def __init__(self, text: str, role: Role, rules: _Rules) -> None:
        self._text = text
        self._role = role
        self._rules = rules
        #: For each tag, where its blocks start and where their closing tags do.
        self._closed: dict[str, dict[int, int]] = {}

    def wrappers(self) -> Iterator[Piece]:
        """What is not the speaker's own, in order."""
        at = 0
        while pieces := self._opened(at) or self._block(self._rules.tag.match(self._text, at), is_front=True):
            yield from pieces
            at = pieces[-1].last
        if self._role is Role.USER and self._text.find("<", at) >= 0:
            yield from self._among_words(at)
        elif self._role is Role.SYSTEM:
            yield from self._labelled(at)

    def _among_words(self, at: int) -> Iterator[Piece]:
        is_behind = False
        while found := self._next(at, is_behind=is_behind):
            pieces = [] if _is_fence(found) else self._block(found, is_front=False)
            yield from pieces
            is_behind = bool(pieces)
            at = self._behind_fence(found) if _is_fence(found) else pieces[-1].last if pieces else found.end()

    def _labelled(self, at: int) -> Iterator[Piece]:
        """The paragraphs with a label, each up to the next one that is known."""
        found = (
            (start, origin, ends)
            for origin, starts, ends in self._rules.paragraphs
            for start in starts.finditer(self._text, at)
        )
        for start, origin, ends in sorted(found, key=lambda one: one[0].start()):
            end = ends.search(self._text, start.end())
            yield Piece(origin, start.start("start"), end.start() if end is not None else len(self._text))

    def _next(self, at: int, *, is_behind: bool) -> re.Match[str] | None:
        """The next opening tag or code fence; behind a wrapper, a tag needs no new line."""
        follows = self._rules.tag.match(self._text, at) if is_behind else None
        return follows or self._rules.line.search(self._text, at)

    def _opened(self, at: int) -> list[Piece]:
        """The wrapper that is known by its first words, if one starts here."""
        start = _blanks(self._text, at)
        for opening in self._rules.openings:
            if self._role not in opening.roles or not self._text.startswith(opening.starts, start):
                continue
            if opening.until is None:
                return [Piece(opening.origin, start, len(self._text))]
            end = f"{self._text}\n".find(opening.until, start)
            if end >= 0:
                return [Piece(opening.origin, start, min(end + len(opening.until), len(self._text)))]
        return []

    def _block(self, found: re.Match[str] | None, *, is_front: bool) -> list[Piece]:
        """The wrapper that starts with this tag, if it is one."""
        if found is None or self._role is not Role.USER:
            return []
        name, start = found["tag"], found.start("start")
        tag = self._rules.tags[name]
        closing = f"</{name}>"
        is_glued = tag.glued and is_front
        close = self._text.find(closing, found.end()) if is_glued else self._closing(name).get(start, -1)
        if close >= 0:
            return _pieces(tag.origin, (start, found.end()), (close, close + len(closing)))
        if is_front and self._is_all_there_is(found, closing):
            return [Piece(tag.origin, start, len(self._text))]
        return []

    def _is_all_there_is(self, found: re.Match[str], closing: str) -> bool:
        """Whether a tag without an end has the text for itself: what follows was cut off."""
        line_end = self._text.find("\n", found.end())
        is_alone = line_end >= 0 and not self._text[found.end() : line_end].strip()
        return found.start() == 0 and is_alone and closing not in self._text

    def _closing(self, name: str) -> dict[int, int]:
        """Where the blocks of a tag close, by where they open; blocks within blocks are matched to their own ends."""
        if name not in self._closed:
            tag = re.escape(name)
            marks = re.compile(
                rf"(?:^|(?<=>))[ \t]*(?P<start><{tag}(?:\s[^<>\n]*)?>)|(?P<end></{tag}>){self._rules.behind}",
                re.MULTILINE,
            )
            under_way: list[int] = []
            ends = self._closed[name] = {}
            for mark in marks.finditer(self._text):
                if mark["start"] is not None:
                    under_way.append(mark.start("start"))
                elif under_way:
                    ends[under_way.pop()] = mark.start("end")
        return self._closed[name]

    def _behind_fence(self, found: re.Match[str]) -> int:
        """Where the code behind a fence ends; without a second fence, with the text."""
        fence = found["fence"]
        second = re.compile(rf"^[ \t]*{fence[0]}{{{len(fence)},}}[ \t]*\r?$", re.MULTILINE)
        end = second.search(self._text, found.end())
        return end.end() if end is not None else len(self._text)


def _is_fence(found: re.Match[str]) -> bool:
    return found.groupdict().get("fence") is not None


def _blanks(text: str, at: int) -> int:
    """Where the blanks that start here end."""
    found = _BLANKS.match(text, at)
    return found.end() if found is not None else at


def _pieces(origin: Origin, opening: tuple[int, int], closing: tuple[int, int]) -> list[Piece]:
    """A block; of one that holds the user's words, the tags alone."""
    if origin is Origin.USER:
        return [Piece(Origin.CLIENT, *opening), Piece(Origin.CLIENT, *closing)]
    return [Piece(origin, opening[0], closing[1])]


def _with_packs(text: str, found: Iterable[Piece], *, is_open: bool) -> list[Piece]:
    """The same with our own packs taken out of the clients' wrappers around them, or of an open text."""
    if is_open:
        found = _cover(text, Origin.SYSTEM, found)
    pieces: list[Piece] = []
    for piece in found:
        at = piece.first
        for pack in _packs(text, piece) if piece.origin is not Origin.PACK else ():
            if pack.first > at:
                pieces.append(Piece(piece.origin, at, pack.first))
            pieces.append(pack)
            at = pack.last
        if piece.last > at:
            pieces.append(Piece(piece.origin, at, piece.last))
    return pieces


def _packs(text: str, within: Piece) -> Iterator[Piece]:
    at = within.first
    while opening := _PACK_OPENS.search(text, at, within.last):
        closing = _PACK_CLOSES.search(text, opening.end(), within.last)
        if closing is None:
            return
        yield Piece(Origin.PACK, opening.start(), closing.end())
        at = closing.end()


def _cover(text: str, own: Origin, found: Iterable[Piece]) -> list[Piece]:
    """The wrappers with the speaker's own words between them; blanks next to a wrapper go to it."""
    pieces: list[Piece] = []
    at = 0
    for piece in found:
        if piece.last <= at:
            continue
        words = text[at : piece.first]
        start = at + (len(words) - len(words.lstrip()) if pieces else 0)
        end = at + len(words.rstrip())
        if end > start:
            pieces.append(Piece(own, start, end))
        pieces.append(Piece(piece.origin, pieces[-1].last if pieces else 0, piece.last))
        at = _blanks(text, piece.last)
        pieces[-1] = pieces[-1]._replace(last=at)
    if at < len(text):
        pieces.append(Piece(own, at, len(text)))
    return pieces
