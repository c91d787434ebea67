"""The dual recorder: each event goes in full to the companion, and then, cut short, to the .rlog."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Unpack

from blackbox.dual import files, names
from blackbox.events import calls
from blackbox.events.build import Event
from blackbox.events.comments import Comment
from blackbox.formats import shortkeys
from blackbox.formats.companion import Companion
from blackbox.formats.convert import COMPANION, LOG
from blackbox.formats.flight import Entry
from blackbox.formats.shorten import shorten
from blackbox.redaction.config import load_redactor
from blackbox.redaction.redactor import Redactor
from blackbox.syntax.header import Header
from blackbox.syntax.results import Result, parse_result
from blackbox.vault.guard import Guard
from blackbox.vault.store import FOLDER, BlobStore
from blackbox.write import results, scalars, spelling
from blackbox.write.header import HeaderFields, map_header, spell_header
from blackbox.write.recording import Clock, Recording, Witnessed, utc_now
from blackbox.write.render import render_event
from blackbox.write.scalars import Argument, MetaFields, Money
from blackbox.write.sink import Durability, FileSink
from blackbox.write.writer import Log, SubagentLog, Writer

ROOT = "docs/logs"


class _Keeper:
    """One companion file: what every event of a recording is written to before anything else."""

    def __init__(self, sink: FileSink, companion: Companion, guard: Guard, clock: Clock) -> None:
        self.sink = sink
        self.companion = companion
        self.guard = guard
        self.clock = clock

    def keep(self, event: Event, meta: Mapping[str, str]) -> Witnessed:
        """Write an event in full. Shown is the event as it was written."""
        entry = Entry(event, dict(meta))
        rendered = render_event(event, meta)
        seen = self.guard.look_again(rendered)
        if seen != rendered:
            # Some secrets show only where an entry is joined to a line.
            entry = shortkeys.read_spelled(seen) or entry
        lines = self.companion.lines(entry)
        if isinstance(event, Comment):
            # A comment carries no time of its own, its line does.
            lines = [{**line, "timestamp": scalars.timestamp("clock", self.clock())} for line in lines]
        files.write_lines(self.sink, lines)
        return Witnessed(entry.event, seen)

    def show(self, event: Event, meta: Mapping[str, str]) -> Witnessed:
        """Write an event in full. Shown is what the .rlog has room for."""
        kept = self.keep(event, meta)
        return Witnessed(shorten(Entry(kept.shown, dict(meta))), kept.full)


class _Nowhere:
    """Where the lines of a sub-agent go that only its companion holds."""

    size = 0

    def write(self, data: bytes) -> None:
        """The companion has it."""

    def close(self) -> None:
        """Nothing is open."""


class _Session:
    """What all logs of a dual recording share: where its files are, and how they are written."""

    def __init__(self, folder: Path, stem: str, recording: Recording, durability: Durability) -> None:
        self.folder, self.stem = folder, stem
        self.recording, self.durability = recording, durability
        self.guard, self.clock = recording.guard, recording.clock
        #: The sub-agents so far, those of sub-agents included.
        self.subagents: list[DualSubagent] = []


class DualRecorder(Log):
    """Records a session as `DATE/HHMMSS-task.rlog` and `.jsonl` below `root`, under the id `DATE-HHMMSS-task`.

    It takes what a `Writer` takes. The `.jsonl` has every event in full, is written first and counts; the `.rlog` is
    for people, and shows the first 200 characters of a message, 150 of a thought, 100 of what a tool was given and
    gave back. Secrets are hidden in both. Time and date in the names are the clock's, UTC unless it says otherwise.

    Results stay whole in the `.jsonl`. Only what `blob()` is given goes to `.bbox-blobs/` beside the files, and both
    point to it. `redactions` and the closing line count the whole session, with its sub-agents and blobs.
    """

    def __init__(
        self,
        task: str,
        *,
        root: str | os.PathLike[str] = ROOT,
        durability: Durability = Durability.FLUSH,
        clock: Clock = utc_now,
        steps: bool = True,
        timestamps: bool = True,
        start: bool = True,
        redactor: Redactor | None = None,
        **header: Unpack[HeaderFields],
    ) -> None:
        when = clock()
        store = BlobStore(Path(root) / names.day(when) / FOLDER)
        guard = Guard(redactor or load_redactor(), store, threshold=None, sync=durability is Durability.FSYNC)
        given = map_header({**header, "format": "rlog/1"}, guard.clean_value)
        spell_header({"id": "…", **given})  # Refused before anything is opened.
        pair = files.create_pair(Path(root), when, guard.clean(task), durability)
        given["id"] = given.get("id", names.session_id(when, pair.name))
        self._id = given["id"]
        with contextlib.ExitStack() as undo:
            undo.callback(pair.companion.close)
            undo.callback(pair.log.close)
            self._keeper = _keeper(pair.companion, given, guard, clock)
            recording = Recording(
                pair.log, clock=clock, steps=steps, timestamps=timestamps, guard=guard, witness=self._keeper.show
            )
            super().__init__(recording, course=recording.course)
            self._session = _Session(pair.log.path.parent, pair.name, recording, durability)
            self._writer = Writer(recording, start=start, **given)
            undo.pop_all()

    @property
    def id(self) -> str:
        """The session's id, the same in both files."""
        return self._id

    @property
    def path(self) -> Path:
        """The .rlog."""
        return self._session.folder / (self._session.stem + LOG)

    @property
    def companion(self) -> Path:
        """The .jsonl."""
        return self._session.folder / (self._session.stem + COMPANION)

    def subagent(
        self,
        agent_type: str,
        task: str | None = None,
        /,
        *,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> "DualSubagent":
        """`x:explore id=abc123 "find tests" → [started]`: a log for the sub-agent, in a file of its own."""
        return _spawn(self, self._session, self._id, agent_type, task, meta, kwargs)

    def close(
        self,
        *,
        summary: str | None = None,
        prs: Iterable[str | int] = (),
        issues: int | None = None,
        tokens: int | None = None,
        cost: Money | None = None,
    ) -> None:
        """Write `@end` and the closing metrics line to both files; once is enough.

        Sub-agents that have not ended are cut off: their files stay as they are.
        """
        if self._is_closed:
            return
        for subagent in self._session.subagents:
            subagent.cut_off()
        try:
            self._writer.close(summary=summary, prs=prs, issues=issues, tokens=tokens, cost=cost)
        finally:
            self._is_closed = True
            self._keeper.sink.close()

    def _close_failed(self, error: str) -> None:
        if self._is_closed:
            return
        try:
            self.note(f"the session was ended by an error: {error}")
        finally:
            self.close(summary=f"failed: {error}")


class DualSubagent(SubagentLog):
    """A sub-agent's log. Its events are in its own companion; its parent has its start and its end."""

    def __init__(self, parent: Log, session: _Session, sink: FileSink, name: str, agent_type: str) -> None:
        companion = Companion({"id": f"sub-{name}"})
        self._keeper = _Keeper(sink, companion, session.guard, session.clock)
        recording = Recording(
            _Nowhere(),
            clock=session.clock,
            steps=True,
            timestamps=True,
            guard=session.guard,
            witness=self._keeper.keep,
            within=session.recording,
        )
        Log.__init__(self, recording, course=recording.course)
        self._scope = {"id": name}
        self._agent_type = agent_type
        self._parent = parent
        self._session = session

    @property
    def path(self) -> Path:
        """The sub-agent's .jsonl."""
        return self._keeper.sink.path

    def subagent(
        self,
        agent_type: str,
        task: str | None = None,
        /,
        *,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> "DualSubagent":
        """A sub-agent's own sub-agent."""
        return _spawn(self, self._session, f"sub-{self.id}", agent_type, task, meta, kwargs)

    def close(
        self,
        *,
        summary: str | None = None,
        session_id: str | None = None,
        path: str | os.PathLike[str] | None = None,
        result: Result | None = None,
    ) -> None:
        """`x:explore id=abc123 → [done] summary="…"` in the parent's log; once is enough."""
        if self._is_closed:
            return
        if result is None:
            where = None if path is None else os.fspath(path)
            given = {"session_id": session_id, "path": where, "summary": summary}
            words = [spelling.pair(key, value) for key, value in given.items() if value is not None]
            result = parse_result(" ".join(["[done]", *words]), escaped=True)
        try:
            self.lifecycle("end", summary=summary)
        finally:
            self.cut_off()
        event = calls.build_subagent(self._agent_type, calls.Arguments(), result)
        self._parent.append(event, id=self.id)

    def cut_off(self) -> None:
        """Take no more events, and write nothing about it."""
        if not self._is_closed:
            self._is_closed = True
            self._recording.close()
            self._keeper.sink.close()


def _keeper(sink: FileSink, header: HeaderFields, guard: Guard, clock: Clock) -> _Keeper:
    fields = Header(spell_header(header).rstrip("\n").split("\n")).fields
    companion = Companion({key: value for key, value in fields.items() if key != "escape"})
    keeper = _Keeper(sink, companion, guard, clock)
    files.write_lines(sink, [companion.header_line(scalars.timestamp("clock", clock()))])
    return keeper


def _spawn(
    parent: Log,
    session: _Session,
    parent_id: str,
    agent_type: str,
    task: str | None,
    meta: MetaFields | None,
    kwargs: dict[str, Argument],
) -> DualSubagent:
    scalars.name("agent_type", agent_type)
    given: MetaFields = {**meta} if meta else {}
    name, sink = files.create_beside(session.folder, session.stem, given.get("id"), session.durability)
    began = scalars.timestamp("clock", session.clock())
    about = {"session_id": f"sub-{name}", "parent_session": parent_id, "agent_type": agent_type, "started_at": began}
    arguments = scalars.arguments(() if task is None else (task,), kwargs)
    given["id"] = name
    with contextlib.ExitStack() as undo:
        # A start that the parent's log refuses leaves no file behind.
        undo.callback(files.remove, sink)
        files.write_lines(sink, [{"type": "header", **about}])
        parent.append(calls.build_subagent(agent_type, arguments, results.started()), **given)
        undo.pop_all()
    log = DualSubagent(parent, session, sink, name, agent_type)
    session.subagents.append(log)
    return log
