"""What is said and done: messages, thoughts, todos, modes, questions; tools and other calls, and what came back."""

import datetime as dt
import os
from collections.abc import Iterable, Sequence
from typing import Unpack

from blackbox.errors import UsageError
from blackbox.events import calls
from blackbox.events.comments import Metrics
from blackbox.events.messages import Message, Thinking, Todo
from blackbox.syntax.results import Result
from blackbox.write import results, scalars, spelling
from blackbox.write.recording import Author
from blackbox.write.results import Outcome, result_of
from blackbox.write.scalars import Argument, MetaFields


class _Handle:
    """What is still open: a tool that runs, a question that was asked. What is logged through it carries its id."""

    def __init__(self, log: Author, name: str) -> None:
        self.id = name
        self._log = log

    def __str__(self) -> str:
        return self.id

    def _write(self, event: calls.ToolCall | calls.Question, meta: MetaFields) -> None:
        meta["id"] = self.id
        self._log.append(event, **meta)


class Talk(Author):
    """What the user and the agent say to each other."""

    def user(self, text: str, **meta: Unpack[MetaFields]) -> None:
        """`u: Fix the login bug`."""
        self._append(Message("user", text), meta)

    def agent(self, text: str, *, metrics: Metrics | None = None, **meta: Unpack[MetaFields]) -> None:
        """`a: Looking.`, with what the answer cost where `metrics` tells."""
        self._append(Message("agent", text, metrics), meta)

    def thinking(self, text: str, **meta: Unpack[MetaFields]) -> None:
        """`th: Let me see…`; `sig=` is the provider's signature of the block."""
        self._append(Thinking(text), meta)

    def todos(self, items: Iterable[Todo | tuple[str, str]], **meta: Unpack[MetaFields]) -> None:
        """`td: [in_progress] Fix login [pending] Add tests`: the whole list as it stands, as (status, text)."""
        self._append(spelling.todos_of(item if isinstance(item, Todo) else Todo(*item) for item in items), meta)

    def mode(self, name: str, *, afk: bool = False, comment: str | None = None, **meta: Unpack[MetaFields]) -> None:
        """`m:auto afk=true`. While the user is away, questions are written as not blocking."""
        arguments = scalars.arguments((), {"afk": afk or None})
        self._append(calls.build_mode(name, arguments, comment), meta)
        self._recording.is_afk = afk

    def ask(
        self,
        text: str,
        *,
        options: Sequence[str] = (),
        multi: bool = False,
        meta: MetaFields | None = None,
        **more: Argument,
    ) -> "OpenQuestion":
        """`q: id=q_1 "Which database?" options=["Postgres", "SQLite"] → [pending]`.

        While the user is away (`mode(…, afk=True)`) the question is written `[auto]`: it blocks nobody.
        """
        name = self._next_id("q_", meta)
        keyword: dict[str, Argument] = {"options": tuple(options) or None, "multi": multi or None}
        result = results.auto() if self._recording.is_afk else results.pending()
        event = calls.build_question(scalars.arguments((text,), keyword, more), result)
        self._append(event, meta, id=name)
        return OpenQuestion(self, name)


class OpenQuestion(_Handle):
    """A question that has been asked. It may be answered more than once: by the agent, later by a human."""

    def select(self, *choices: str, **meta: Unpack[MetaFields]) -> None:
        """`q: id=q_1 → [selected: Auth, API]`."""
        self._answer(results.selected(*choices), meta)

    def auto(self, *choices: str, reason: str, **meta: Unpack[MetaFields]) -> None:
        """`q: id=q_1 → [auto: OAuth, reason="…"]`: decided without a human, and why."""
        self._answer(results.auto(*choices, reason=reason), meta)

    def answer(self, text: str, **meta: Unpack[MetaFields]) -> None:
        """`q: id=q_1 → "About 1000 req/s"`."""
        self._answer(results.answer(text), meta)

    def _answer(self, result: Result, meta: MetaFields) -> None:
        self._write(calls.build_question(calls.Arguments(), result), meta)


class Calls(Author):
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
        given = scalars.arguments(args, kwargs, arguments)
        return self._call(calls.ToolCall(name, given, result_of(result)), meta)

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
        given = scalars.arguments(args, kwargs, arguments)
        began = self.now()
        call_id = self._call(calls.ToolCall(name, given, results.running(), "start"), meta)
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
        given = scalars.arguments((), {"partial": partial})
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
        event = calls.McpCall(server, method, scalars.arguments(args, kwargs, arguments), result_of(result))
        return self._call(event, meta)

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
        given = scalars.arguments(args, kwargs, arguments)
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
        given = scalars.arguments(() if text is None else (text,), kwargs)
        self._append(calls.build_plan(action, given, result_of(result)), meta, id=name)
        return name

    def plan_file(self, path: str | os.PathLike[str], *, meta: MetaFields | None = None) -> None:
        """`p:file path=~/plans/auth.md`: the one file that plan mode may write."""
        given = scalars.arguments((), {"path": os.fspath(path)})
        self._append(calls.build_plan("file", given, None), meta)

    def recall(self, *queries: str, result: Outcome = None, meta: MetaFields | None = None) -> None:
        """`r: "auth" "billing" → [2 matches]`: looked up in memory."""
        self._append(calls.build_recall(scalars.arguments(queries, {}), result_of(result)), meta)

    def _call(self, event: calls.ToolCall | calls.McpCall, meta: MetaFields | None) -> str:
        call_id = self._next_id("call_", meta)
        self._append(event, meta, id=call_id)
        return call_id


class RunningTool(_Handle):
    """A tool that was started. Its end carries how long it took."""

    def __init__(self, log: Author, name: str, call_id: str, began: dt.datetime) -> None:
        super().__init__(log, call_id)
        self._name = name
        self._began = began

    def progress(self, text: str, **meta: Unpack[MetaFields]) -> None:
        """`t~:build id=call_1 "1/5"`."""
        self._write(calls.ToolCall(self._name, scalars.arguments((text,), {}), None, "progress"), meta)

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
