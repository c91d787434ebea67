"""What was there before a session, and what the session then found out again."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench.material.transcripts import Transcript
from bench.rediscovery.events import Event, Shown, events, shown
from bench.rediscovery.project import Project

#: What was met in at most so many earlier sessions is rare: no standing instructions would have it.
RARE = 3
KINDS = ("files", "commands", "errors")
_PLUMBING = re.compile(
    r"\s*<(?:command-|local-command|system-reminder|task-|usage|persisted|/?[a-z-]+>)|Caveat:|\s*[+-]{1,3}|@@"
    r"|diff --git|index [0-9a-f]+|\s*$|```|---"
)
_SHORTEST_MESSAGE, _LONGEST_MESSAGE = 15, 4000

Items = dict[str, list[str]]


class Session(NamedTuple):
    """A session: its events, each with what it shows."""

    transcript: Transcript
    began: str
    did: tuple[tuple[Event, Shown], ...]

    @property
    def name(self) -> str:
        """Its id."""
        return self.transcript.session

    def first_message(self) -> str:
        """What the human said first, or what the command stands for that they gave."""
        for event, _ in self.did:
            if event.speaker == "user" and event.kind == "text":
                text = "\n".join(line for line in event.lines if not _PLUMBING.match(line)).strip()
                if len(text) >= _SHORTEST_MESSAGE:
                    return text[:_LONGEST_MESSAGE]
        return ""

    def touched(self) -> set[str]:
        """Everything that it read, changed, ran or met."""
        names = {name for _, seen in self.did for name in (seen.read, seen.changed) if name}
        return names.union(*(set(seen.commands) | set(seen.errors) for _, seen in self.did))

    def again(self, past: "Past") -> Items:
        """What it found out again: files that it read and then changed, commands, errors that were met before."""
        read: set[str] = set()
        changed: set[str] = set()
        for _, seen in self.did:
            if seen.changed in read:
                changed.add(seen.changed or "")
            read |= {seen.read} - {None}  # type: ignore[arg-type]
        ran = {command for _, seen in self.did for command in seen.commands}
        met = {error for _, seen in self.did for error in seen.errors}
        return {
            kind: sorted(name for name in names if past.uses[kind, name])
            for kind, names in zip(KINDS, (changed, ran, met), strict=True)
        }


class Past:
    """All that happened so far, each event once."""

    def __init__(self) -> None:
        self.uses: Counter[tuple[str, str]] = Counter()
        self.last: dict[tuple[str, str], int] = {}
        self.sessions: dict[str, set[str]] = defaultdict(set)
        self.turns: list[str] = []
        self.lines: list[str] = []
        self._count = 0

    def take(self, session: str, event: Event, seen: Shown) -> None:
        """One more event."""
        self._count += 1
        files = {seen.read, seen.changed} - {None}
        for kind, names in zip(KINDS, (files, seen.commands, seen.errors), strict=True):
            for name in names:
                self.uses[kind, name or ""] += 1
                self.last[kind, name or ""] = self._count
                self.sessions[name or ""].add(session)
        if event.kind == "tool":
            if seen.head:
                self.turns.append(seen.head)
                self.lines.append(seen.head)
            self.lines += seen.errors
        elif event.kind == "text":
            said = [line for line in event.lines if line.strip()]
            self.lines += said
            self.turns.append(f"{event.speaker}: " + " ".join(line.strip() for line in said)[:400])

    def rare(self, items: Items) -> Items:
        """Those that were met in few sessions."""
        return {kind: [name for name in names if len(self.sessions[name]) <= RARE] for kind, names in items.items()}

    def names(self, kind: str) -> list[str]:
        """All of one kind."""
        return [name for known, name in self.uses if known == kind]


def sessions(transcripts: Sequence[Transcript], project: Project) -> list[Session]:
    """The sessions by their beginning."""
    found = []
    for transcript in transcripts:
        text = transcript.path.read_text("utf-8", "replace")
        did = tuple((event, shown(event, project)) for event in events(text))
        found.append(Session(transcript, transcript.began_text, did))
    return sorted(found, key=lambda one: (one.began, one.name))


def replayed(known: Sequence[Session]) -> Iterator[tuple[Session, Past]]:
    """Each session with what had happened in the others when it began; the past goes on with the next one."""
    stream = sorted(
        ((event.at, session.name, event.number, event, seen) for session in known for event, seen in session.did),
        key=lambda each: each[:3],
    )
    past, at = Past(), 0
    for session in known:
        while at < len(stream) and stream[at][0] < session.began:
            _, name, _, event, seen = stream[at]
            past.take(name, event, seen)
            at += 1
        yield session, past
