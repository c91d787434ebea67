"""Labelled lines with what was found in them: of real transcripts, by session and number, and invented ones."""

import bisect
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

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

    session: str
    part: Literal["tuned", "held_back", "unseen"]
    unsure: tuple[int, ...]
    lines: tuple[tuple[int, Speaker, bool, str], ...]


class _Message(NamedTuple):
    speaker: Speaker
    first: int
    last: int
    before: str


class _Found(NamedTuple):
    """What was found in a message: hints with their types, and what was taken for typed."""

    hints: list[tuple[int, int, str]]
    typed: list[tuple[int, int]]

    def types(self, first: int, last: int) -> frozenset[str]:
        """The types of the hints that overlap these characters."""
        return frozenset(kind for start, end, kind in self.hints if start < last and first < end)

    def is_typed(self, first: int, last: int) -> bool:
        """Whether any of these characters were taken for typed."""
        return any(start < last and first < end for start, end in self.typed)


class _Transcript:
    """A text, its lines and its messages."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
        self.messages = list(_messages(text))
        self.firsts = [message.first for message in self.messages]

    def line(self, number: int) -> tuple[int, int]:
        """Where a line begins and ends."""
        first = self.lines[number - 1]
        end = self.text.find("\n", first)
        return first, len(self.text) if end < 0 else end

    def message(self, number: int, speaker: Speaker) -> int | None:
        """Which message of the speaker a line belongs to, if it is one."""
        if number > len(self.lines):
            return None
        first, last = self.line(number)
        at = bisect.bisect_right(self.firsts, max(last - 1, first)) - 1
        if at < 0 or not self.text[first:last].strip():
            return None
        message = self.messages[at]
        return at if message.speaker is speaker and first < message.last else None


def sessions() -> tuple[Session, ...]:
    """All labelled transcripts."""
    return msgspec.convert(tomllib.loads(LABELS.read_text("utf-8"))["session"], tuple[Session, ...])


def labelled_lines(folders: Iterable[Path], part: str) -> list[Labelled] | None:
    """The labelled lines of one part of the transcripts, anywhere below the folders; None: one is missing."""
    paths = sorted(path for folder in folders for path in folder.rglob("*.md"))
    found: list[Labelled] = []
    for session in sessions():
        if session.part != part:
            continue
        transcript = _matching(session, paths)
        if transcript is None:
            return None
        found += _of_session(session, transcript)
    return found


def _matching(session: Session, paths: Iterable[Path]) -> _Transcript | None:
    """The file of a session. Some stand there in several versions: the first that fits the labels is it."""
    for path in paths:
        if path.name.startswith(session.session):
            transcript = _Transcript(path.read_text("utf-8"))
            if all(transcript.message(line[0], line[1]) is not None for line in session.lines):
                return transcript
    return None


def _of_session(session: Session, transcript: _Transcript) -> Iterator[Labelled]:
    read_before: dict[int, _Found] = {}
    for number, speaker, is_typed, kind in session.lines:
        at = transcript.message(number, speaker)
        if at is None:
            raise ValueError(f"{session.session}:{number} is no line of the {speaker}")
        if at not in read_before:
            read_before[at] = _read(transcript.text, transcript.messages[at])
        line = transcript.line(number)
        found = read_before[at]
        text = transcript.text[slice(*line)]
        where = f"{session.session}:{number}"
        yield Labelled(text, speaker, is_typed, found.is_typed(*line), kind, found.types(*line), where)


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


def _read(text: str, message: _Message) -> _Found:
    words = text[message.first : message.last]
    hints = read(words, message.speaker, message.before)
    stretches = typed(words) if message.speaker is Speaker.USER else ()
    return _Found(
        [(message.first + hint.first, message.first + hint.last, hint.kind) for hint in hints],
        [(message.first + first, message.first + last) for first, last in stretches],
    )


def invented(part: str) -> list[Labelled]:
    """The invented sentences of one part."""
    found: list[Labelled] = []
    for case in tomllib.loads(CORPUS.read_text("utf-8"))[part]:
        speaker = Speaker(case["speaker"])
        hints = read(case["text"], speaker, case.get("before", ""))
        types = frozenset(str(hint.kind) for hint in hints)
        found.append(Labelled(case["text"], speaker, True, True, case["type"], types, case["text"]))
    return found


def typed_share(lines: Iterable[Labelled]) -> tuple[int, int, int, int]:
    """Of the lines under the user's name: typed, of these taken for typed, others, of these taken for typed."""
    said = [line for line in lines if line.speaker is Speaker.USER]
    human = [line for line in said if line.is_typed]
    others = [line for line in said if not line.is_typed]
    return len(human), sum(line.is_kept for line in human), len(others), sum(line.is_kept for line in others)
