"""What happens beside a conversation, as lines: modes and phases, compaction, snapshots, queues, and all the rest."""

from collections.abc import Callable
from typing import Any

import msgspec

from blackbird.canon.model import Mark
from blackbird.flightlog.entries.line import count_of, name_of, text_in
from blackbox.events import calls, comments, lifecycle
from blackbox.events.build import Event
from blackbox.write import scalars

PLAN = "plan"
#: What an agent goes on in once its plan was approved.
WORK = "auto"
_BEFORE = ("tokens_before", "pre_tokens", "preTokens")
_AFTER = ("tokens_after", "post_tokens", "postTokens")


class Modes:
    """The mode that a session is in, so that phases stand within plan mode alone."""

    def __init__(self) -> None:
        self._now = ""

    @property
    def is_planning(self) -> bool:
        """Whether it is in plan mode."""
        return self._now == PLAN

    def enter(self, name: str) -> list[Event]:
        """The lines of a change of mode; none if it is the one that holds."""
        name = name_of(name, "chat")
        if name == self._now:
            return []
        leaving: list[Event] = [phase("exit")] if self.is_planning else []
        self._now = name
        entering: list[Event] = [phase("explore")] if name == PLAN else []
        return [*leaving, calls.build_mode(name, calls.Arguments(), None), *entering]

    def leave(self, *, approved: bool) -> list[Event]:
        """Plan mode ends if the plan was approved; the lines of that."""
        if not self.is_planning or not approved:
            return []
        self._now = WORK
        return [phase("exit", approved=True), calls.build_mode(WORK, calls.Arguments(), None)]


def phase(name: str, *, approved: bool | None = None) -> lifecycle.Lifecycle:
    """`@phase explore`, `@phase exit approved=true`."""
    return primitive("phase", name, approved=approved)


def primitive(name: str, *words: str, **fields: str | int | bool | None) -> lifecycle.Lifecycle:
    """An `@` line."""
    arguments = scalars.arguments(words, fields)
    return lifecycle.Lifecycle(name, lifecycle.build_primitive(name, arguments, {}, None), arguments, None)


def events_of(mark: Mark, modes: Modes) -> list[Event]:
    """The lines of a mark. One that has no line of its own is kept as what it was."""
    builder = _BUILDERS.get(mark.kind)
    if mark.kind == "mode":
        return modes.enter(mark.text or text_in(mark.data, "mode", "permissionMode") or "chat")
    event = builder(mark) if builder is not None else None
    return [event if event is not None else _raw(mark)]


def raw_event(value: Any) -> comments.RawEvent:
    """Anything as its JSON text."""
    return comments.RawEvent(comments.RAW_SOURCE, msgspec.json.encode(value, enc_hook=str).decode())


def _raw(mark: Mark) -> comments.RawEvent:
    if mark.kind == "note" and mark.data:
        return raw_event(mark.data)
    said = {"text": mark.text} if mark.text else {}
    return raw_event({"type": mark.kind, **said, **mark.data})


def _compact(mark: Mark) -> Event:
    reason = text_in(mark.data, "reason", "trigger") or mark.text or None
    before, after = count_of(mark.data, *_BEFORE), count_of(mark.data, *_AFTER)
    return primitive("compact", reason=reason, tokens_before=before, tokens_after=after)


def _model(mark: Mark) -> Event | None:
    model = mark.text or text_in(mark.data, "model")
    return comments.ModelSwitch(model, text_in(mark.data, "reason")) if model else None


def _snapshot(mark: Mark) -> Event | None:
    message = text_in(mark.data, "message_id", "messageId", "message") or mark.text
    files = mark.data.get("files")
    count = len(files) if isinstance(files, list | dict) else count_of(mark.data, "files")
    return comments.FileSnapshot(message, count) if message else None


def _queue(mark: Mark) -> Event | None:
    action = text_in(mark.data, "operation", "action")
    said = text_in(mark.data, "content", "message") or mark.text or None
    return comments.QueueOperation(action, said) if action else None


def _title(mark: Mark) -> Event | None:
    title = mark.text or text_in(mark.data, "title", "summary")
    return comments.Fields({"title": title}) if title else None


def _interrupt(mark: Mark) -> Event:
    return comments.Note(f"interrupted: {mark.text}" if mark.text else "interrupted by the user")


def _error(mark: Mark) -> Event | None:
    said = mark.text or text_in(mark.data, "message", "error")
    return comments.Note(f"error: {said}") if said else None


_BUILDERS: dict[str, Callable[[Mark], Event | None]] = {
    "compact": _compact,
    "model": _model,
    "snapshot": _snapshot,
    "queue": _queue,
    "title": _title,
    "interrupt": _interrupt,
    "error": _error,
}
