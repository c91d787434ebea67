"""Labelled lines with what was found in them: of real transcripts, by file and number, and invented ones."""

import bisect
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.peers import ROOT
from blackbird.artifacts.model import Speaker
from blackbird.artifacts.prose import read, typed
from blackbird.canon.model import Role
from blackbird.canon.natives.parts import markdown

LABELS = Path(__file__).parent / "labels" / "transcripts.toml"
CORPUS = ROOT / "tests" / "blackbird" / "artifacts" / "prose" / "corpus.toml"


class Labelled(NamedTuple):
    """A line, what a reader says it is, and the types that were found in it."""

    text: str
    speaker: Speaker
    #: Whether a human typed it, and whether it was taken for typed.
    is_typed: bool
    is_kept: bool
    type: str
    found: frozenset[str]
    where: str


class Session(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The labels of one transcript: number, speaker, whether it was typed, type."""

    file: str
    held_back: bool
    unsure: tuple[int, ...]
    lines: tuple[tuple[int, Speaker, bool, str], ...]


class _Message(NamedTuple):
    speaker: Speaker
    first: int
    last: int
    before: str


def sessions() -> tuple[Session, ...]:
    """All labelled transcripts."""
    return msgspec.convert(tomllib.loads(LABELS.read_text("utf-8"))["session"], tuple[Session, ...])


def labelled_lines(folder: Path, *, is_held_back: bool) -> Iterator[Labelled]:
    """The labelled lines of one part of the transcripts, which stand anywhere below a folder."""
    paths = {path.name: path for path in folder.rglob("*.md")}
    for session in sessions():
        if session.held_back is not is_held_back:
            continue
        if session.file not in paths:
            raise SystemExit(f"{folder} has no {session.file}, which is labelled")
        yield from _of_session(session, paths[session.file].read_text("utf-8"))


def _of_session(session: Session, text: str) -> Iterator[Labelled]:
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    messages = list(_messages(text))
    firsts = [message.first for message in messages]
    read_before: dict[int, tuple[list[tuple[int, int, str]], list[tuple[int, int]]]] = {}
    for number, speaker, is_typed, kind in session.lines:
        first = starts[number - 1]
        last = text.find("\n", first)
        last = len(text) if last < 0 else last
        at = bisect.bisect_right(firsts, last) - 1
        message = messages[at]
        if message.speaker is not speaker or not message.first < last or not first < message.last:
            raise SystemExit(f"{session.file}:{number} is no line of the {speaker}")
        if at not in read_before:
            read_before[at] = _read(text, message)
        found, stretches = read_before[at]
        types = frozenset(kind for start, end, kind in found if start < last and first < end)
        is_kept = any(start < last and first < end for start, end in stretches)
        where = f"{session.file}:{number}"
        yield Labelled(text[first:last], speaker, is_typed, is_kept, kind, types, where)


def _messages(text: str) -> Iterator[_Message]:
    """The words of the main conversation; a user's message with what the agent said last before it."""
    before = ""
    for section in markdown.sections(text):
        for block in markdown.blocks(text, section):
            if block.kind != "text" or section.is_side:
                continue
            first, last = block.inner
            speaker = Speaker.USER if section.role is Role.USER else Speaker.AGENT
            yield _Message(speaker, first, last, before if speaker is Speaker.USER else "")
            if speaker is Speaker.AGENT:
                before = text[first:last]


def _read(text: str, message: _Message) -> tuple[list[tuple[int, int, str]], list[tuple[int, int]]]:
    words = text[message.first : message.last]
    hints = read(words, message.speaker, message.before)
    stretches = typed(words) if message.speaker is Speaker.USER else ()
    return (
        [(message.first + hint.first, message.first + hint.last, hint.kind) for hint in hints],
        [(message.first + first, message.first + last) for first, last in stretches],
    )


def invented(*, is_held_back: bool) -> Iterator[Labelled]:
    """The invented sentences of one part."""
    for case in tomllib.loads(CORPUS.read_text("utf-8"))["held_back" if is_held_back else "tuned"]:
        speaker = Speaker(case["speaker"])
        hints = read(case["text"], speaker, case.get("before", ""))
        found = frozenset(str(hint.kind) for hint in hints)
        yield Labelled(case["text"], speaker, True, True, case["type"], found, case["text"])


def typed_share(lines: Iterable[Labelled]) -> tuple[int, int, int, int]:
    """Of the lines under the user's name: typed, of these taken for typed, others, of these taken for typed."""
    said = [line for line in lines if line.speaker is Speaker.USER]
    human = [line for line in said if line.is_typed]
    others = [line for line in said if not line.is_typed]
    return len(human), sum(line.is_kept for line in human), len(others), sum(line.is_kept for line in others)
