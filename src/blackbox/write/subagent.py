"""Everything one agent can log, and the log of a sub-agent within its parent's."""

import os
from types import TracebackType
from typing import Self

from blackbox.errors import ClosedError, WriteError
from blackbox.events import calls
from blackbox.syntax.results import Result
from blackbox.write import results
from blackbox.write.base import arguments_of
from blackbox.write.calls import Calls
from blackbox.write.marks import Marks
from blackbox.write.notes import Notes
from blackbox.write.scalars import Argument, MetaFields
from blackbox.write.talk import Talk


class Log(Talk, Calls, Marks, Notes):
    """Everything one agent can log."""

    def subagent(
        self,
        agent_type: str,
        task: str | None = None,
        /,
        *,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> "SubagentLog":
        """`x:explore id=sub_1 tid=2 span=x1 "find tests" → [started]`: a log for the sub-agent's own events."""
        name = self._next_id("sub_", meta)
        with self._recording.lock:
            scope = {"tid": self._recording.tally.next_tid(), "span": self._recording.tally.next_id("x")}
        if "span" in self._scope:
            scope["parent"] = self._scope["span"]
        given = arguments_of(() if task is None else (task,), kwargs)
        event = calls.build_subagent(agent_type, given, results.started())
        self._append(event, meta, **scope, id=name)
        return SubagentLog(self, agent_type, {"id": name, **scope})


class SubagentLog(Log):
    """The events of a sub-agent, marked with its `tid`. Leaving the `with` block closes it."""

    def __init__(self, parent: Log, agent_type: str, scope: dict[str, str]) -> None:
        super().__init__(parent._recording, {"tid": scope["tid"]})  # noqa: SLF001 - one session, one recording
        self._scope = scope
        self._agent_type = agent_type

    @property
    def id(self) -> str:
        """The id of the sub-agent's call."""
        return self._scope["id"]

    def close(
        self,
        *,
        summary: str | None = None,
        session_id: str | None = None,
        path: str | os.PathLike[str] | None = None,
        result: Result | None = None,
    ) -> None:
        """`x:explore id=sub_1 tid=2 span=x1 → session_id=… path=… summary="…"`; once is enough."""
        if self._is_closed:
            return
        if result is None:
            where = None if path is None else os.fspath(path)
            result = results.fields(session_id=session_id, path=where, summary=summary)
            result = result if result.text else results.done()
        event = calls.build_subagent(self._agent_type, calls.Arguments(), result)
        self._recording.append(event, self._scope, self._course)
        self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or error is None:
            self.close()
            return
        try:
            self.close(result=results.err(kind.__name__))
        except (WriteError, ClosedError) as failure:
            # What the caller has to hear about is the error that ended the block.
            error.add_note(f"the sub-agent's log could not be closed: {failure.message}")
