"""Calls: tools, MCP methods, skills, plans and recalls, and what came back."""

import datetime as dt
import os
from typing import Unpack

from blackbox.errors import UsageError
from blackbox.events import calls
from blackbox.write import results
from blackbox.write.base import Base, Outcome, arguments_of, result_of
from blackbox.write.scalars import Argument, MetaFields


class Calls(Base):
    """What the agent does. Arguments are given as in Python; those named like a parameter go into `arguments`."""

    def tool(
        self,
        name: str,
        /,
        *args: Argument,
        result: Outcome = None,
        arguments: dict[str, Argument] | None = None,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> str:
        """`t:read id=call_1 src/auth.rs → [186 lines]`; returns the call's id."""
        given = arguments_of(args, kwargs, arguments)
        return self._call(calls.ToolCall(name, given, result_of(result)), "call_", meta)

    def start_tool(
        self,
        name: str,
        /,
        *args: Argument,
        arguments: dict[str, Argument] | None = None,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> "RunningTool":
        """`t!:build id=call_1 cargo build → [running]`; the handle logs its progress and its end."""
        given = arguments_of(args, kwargs, arguments)
        began = self._recording.clock()
        call_id = self._call(calls.ToolCall(name, given, results.running(), "start"), "call_", meta)
        return RunningTool(self, name, call_id, began)

    def observe(
        self,
        call: "str | RunningTool",
        result: Outcome = None,
        *,
        partial: str | None = None,
        meta: MetaFields | None = None,
    ) -> None:
        """`o: id=call_1 → [ok] 128 passed`, or a piece of its output: `o: id=call_1 partial="…"`."""
        if (result is None) == (partial is None):
            raise UsageError("an observation is either a result or a part of one", "pass `result` or `partial=`")
        given = arguments_of((), {"partial": partial})
        self._append(calls.build_observation(given, result_of(result)), meta, id=str(call))

    def mcp(
        self,
        server: str,
        method: str,
        /,
        *args: Argument,
        result: Outcome = None,
        arguments: dict[str, Argument] | None = None,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> str:
        """`c:github.issues id=call_2 state=open → [8 issues]`; returns the call's id."""
        event = calls.McpCall(server, method, arguments_of(args, kwargs, arguments), result_of(result))
        return self._call(event, "call_", meta)

    def skill(
        self,
        name: str,
        /,
        *args: Argument,
        result: Outcome = None,
        arguments: dict[str, Argument] | None = None,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> None:
        """`s:pricing-tiers activate → [ok]`; the first word is the action."""
        given = arguments_of(args, kwargs, arguments)
        self._append(calls.build_skill(name, given, result_of(result)), meta)

    def plan(
        self,
        action: str,
        text: str | None = None,
        /,
        *,
        result: Outcome = None,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> str:
        """`p:create id=p1 "Auth plan" → [4 steps]`; returns the plan's id.

        `create` makes a new plan; any other action is about the last one unless `meta` has an id.
        """
        if action == "create" or not self._recording.last_plan or (meta and "id" in meta):
            self._recording.last_plan = self._next_id("p", meta)
        name = self._recording.last_plan
        given = arguments_of(() if text is None else (text,), kwargs)
        self._append(calls.build_plan(action, given, result_of(result)), meta, id=name)
        return name

    def plan_file(self, path: str | os.PathLike[str], *, meta: MetaFields | None = None) -> None:
        """`p:file path=~/plans/auth.md`: the one file that plan mode may write."""
        given = arguments_of((), {"path": os.fspath(path)})
        self._append(calls.build_plan("file", given, None), meta)

    def recall(self, *queries: str, result: Outcome = None, meta: MetaFields | None = None) -> None:
        """`r: "auth" "billing" → [2 matches]`: looked up in memory."""
        self._append(calls.build_recall(arguments_of(queries, {}), result_of(result)), meta)

    def _call(self, event: calls.ToolCall | calls.McpCall, prefix: str, meta: MetaFields | None) -> str:
        call_id = self._next_id(prefix, meta)
        self._append(event, meta, id=call_id)
        return call_id


class RunningTool:
    """A tool that was started. Its end carries how long it took."""

    def __init__(self, log: Base, name: str, call_id: str, began: dt.datetime) -> None:
        self.id = call_id
        self._log = log
        self._name = name
        self._began = began

    def __str__(self) -> str:
        return self.id

    def progress(self, text: str, **meta: Unpack[MetaFields]) -> None:
        """`t~:build id=call_1 "1/5"`."""
        self._write(calls.ToolCall(self._name, arguments_of((text,), {}), None, "progress"), meta)

    def retry(self, attempt: int, attempts: int | None = None, /, **meta: Unpack[MetaFields]) -> None:
        """`t!:build id=call_1 → [retry 2/3]`: the next attempt begins."""
        self._began = self._log.now()
        self._write(calls.ToolCall(self._name, calls.Arguments(), results.retry(attempt, attempts), "start"), meta)

    def done(self, result: Outcome = None, **meta: Unpack[MetaFields]) -> None:
        """`t:build id=call_1 latency_ms=34200 → [ok] Built in 34s`."""
        if "latency_ms" not in meta:
            meta["latency_ms"] = max(0, (self._log.now() - self._began) // dt.timedelta(milliseconds=1))
        given = results.ok() if result is None else result_of(result)
        self._write(calls.ToolCall(self._name, calls.Arguments(), given), meta)

    def failed(self, message: str, **meta: Unpack[MetaFields]) -> None:
        """`t:build id=call_1 latency_ms=8430 → [err: permission denied]`."""
        self.done(results.err(message), **meta)

    def _write(self, event: calls.ToolCall, meta: MetaFields) -> None:
        meta["id"] = self.id
        self._log.append(event, **meta)
