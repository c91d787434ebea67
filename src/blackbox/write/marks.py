"""The marks along a session: the `@` primitives of long ones, and the comments that carry notes and figures."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, Unpack

import msgspec

from blackbox.errors import UsageError
from blackbox.events import comments, lifecycle
from blackbox.events.calls import Arguments
from blackbox.syntax.results import Blob, Result, parse_result
from blackbox.syntax.values import clock as seconds_of
from blackbox.write import scalars, spelling
from blackbox.write.recording import Author
from blackbox.write.results import Outcome, result_of
from blackbox.write.scalars import Argument, Duration, MetaFields, Money


class Marks(Author):
    """Where the session stands: begun, paused, waiting, split, ended."""

    def lifecycle(
        self,
        name: str,
        /,
        *args: Argument,
        result: Outcome = None,
        comment: str | None = None,
        meta: MetaFields | None = None,
        **kwargs: Argument,
    ) -> None:
        """Any `@word`, known or not."""
        self._mark(name, scalars.arguments(args, kwargs), result, comment, meta)

    def start(
        self,
        *,
        budget: Money | None = None,
        duration: Duration | None = None,
        comment: str | None = None,
        **meta: Unpack[MetaFields],
    ) -> None:
        """`@start id=sess_001 budget=$50 duration=12h`."""
        money = None if budget is None else scalars.money("budget", budget)
        length = None if duration is None else scalars.duration("duration", duration)
        self.lifecycle("start", budget=money, duration=length, comment=comment, meta=meta)

    def init(self, model: str, /, **meta: Unpack[MetaFields]) -> None:
        """`@init model=…`: the model answered for the first time."""
        meta["model"] = model
        self.lifecycle("init", meta=meta)

    def checkpoint(
        self,
        *,
        hour: float | None = None,
        tokens: int | None = None,
        cost: Money | None = None,
        comment: str | None = None,
        **meta: Unpack[MetaFields],
    ) -> None:
        """`@checkpoint hour=4 tokens=45000 cost=$12.30`."""
        at = None if hour is None else scalars.money("hour", hour, sign="")
        count = None if tokens is None else scalars.whole("tokens", tokens)
        money = None if cost is None else scalars.money("cost", cost)
        self.lifecycle("checkpoint", hour=at, tokens=count, cost=money, comment=comment, meta=meta)

    def pause(self, reason: str | None = None, **meta: Unpack[MetaFields]) -> None:
        """`@pause reason="waiting for CI"`."""
        self.lifecycle("pause", reason=reason, meta=meta)

    def resume(self, reason: str | None = None, **meta: Unpack[MetaFields]) -> None:
        """`@resume`."""
        self.lifecycle("resume", reason=reason, meta=meta)

    def assess(self, priorities: Iterable[tuple[str, str]], **meta: Unpack[MetaFields]) -> None:
        """`@assess → P0: fix login, P1: add tests`."""
        self.lifecycle("assess", result=_assessment(priorities), meta=meta)

    def notify(self, message: str, **meta: Unpack[MetaFields]) -> None:
        """`@notify "PR #47 ready"`: tells a human and goes on."""
        self.lifecycle("notify", message, meta=meta)

    def wait_approval(
        self,
        *,
        timeout: Duration | None = None,
        outcome: Outcome = None,
        meta: MetaFields | None = None,
        **about: Argument,
    ) -> None:
        """`@wait-approval pr=47 timeout=2h → approved`; `about` says what waits."""
        if timeout is not None:
            about["timeout"] = scalars.duration("timeout", timeout)
        self._mark("wait-approval", scalars.arguments((), about), outcome, None, meta)

    def escalate(self, message: str, **meta: Unpack[MetaFields]) -> None:
        """`@escalate "Tests failing, need human"`."""
        self.lifecycle("escalate", message, meta=meta)

    def batch(self, items: Iterable[str], *, reason: str | None = None, **meta: Unpack[MetaFields]) -> None:
        """`@batch [issue-142, issue-156] reason="related"`."""
        self.lifecycle("batch", tuple(items), reason=reason, meta=meta)

    def snapshot(self, name: str, message: str, **meta: Unpack[MetaFields]) -> None:
        """`@snapshot id=after_pr "PR created, tests pass"`."""
        meta["id"] = name
        self.lifecycle("snapshot", message, meta=meta)

    def compact(
        self,
        *,
        reason: str | None = None,
        tokens_before: int | None = None,
        tokens_after: int | None = None,
        comment: str | None = None,
        **meta: Unpack[MetaFields],
    ) -> None:
        """`@compact reason="context limit" tokens_before=180000 tokens_after=8000`."""
        before = None if tokens_before is None else scalars.whole("tokens_before", tokens_before)
        after = None if tokens_after is None else scalars.whole("tokens_after", tokens_after)
        self.lifecycle("compact", reason=reason, tokens_before=before, tokens_after=after, comment=comment, meta=meta)

    def phase(
        self,
        name: str,
        *,
        approved: bool | None = None,
        swarm: bool | None = None,
        teammates: int | None = None,
        comment: str | None = None,
        **meta: Unpack[MetaFields],
    ) -> None:
        """`@phase explore`, `@phase exit approved=true`."""
        arguments = scalars.arguments((name,), {"approved": approved, "swarm": swarm, "teammates": teammates})
        self._mark("phase", arguments, None, comment, meta)

    def _mark(
        self, name: str, arguments: Arguments, outcome: Outcome, comment: str | None, meta: MetaFields | None
    ) -> None:
        result = result_of(outcome)
        primitive = lifecycle.build_primitive(name, arguments, scalars.meta_of(meta or {}), result)
        self._append(lifecycle.Lifecycle(name, primitive, arguments, result, comment), meta)


class MetricFields(TypedDict, total=False):
    """What one step used."""

    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cost_usd: Money | None
    completion_token_ids: Blob | None
    prompt_token_ids: Blob | None
    logprobs: Blob | None
    extra: Mapping[str, Argument]
    other: Mapping[str, Argument]


def metrics_of(step: int | None = None, **fields: Unpack[MetricFields]) -> comments.Metrics:
    """Metrics from plain values: `metrics_of(prompt_tokens=520, cost_usd="0.00045")`."""
    given: dict[str, Any] = {key: value for key, value in fields.items() if value is not None}
    cost = fields.get("cost_usd")
    if cost is not None:
        given["cost_usd"] = scalars.amount("cost_usd", cost)
    for key in ("extra", "other"):
        if key in given:
            given[key] = {name: scalars.text_of(value) for name, value in given[key].items()}
    return comments.Metrics(step=step, **given)


class Notes(Author):
    """What stands behind a `#`."""

    def comment(self, text: str) -> None:
        """`# User initiates task`: whatever the text looks like, it is read as a remark."""
        self._comment(comments.Remark(text))

    def note(self, text: str) -> None:
        """`# notes: …`: explains something odd in the log."""
        self._comment(comments.Note(text))

    def status(self, text: str) -> None:
        """`# status: Compacting`."""
        self._comment(comments.Status(text))

    def elapsed(self, since_start: float | dt.timedelta | str | None = None) -> None:
        """`# t=00:05:23`; by the clock unless a time is given."""
        text = scalars.clock("elapsed", self._recording.elapsed() if since_start is None else since_start)
        self._comment(comments.Elapsed(seconds_of(text), text))

    def metrics(self, step: int | None = None, **fields: Unpack[MetricFields]) -> None:
        """`# metrics step=3 prompt_tokens=520 completion_tokens=80`; the step is the current one unless given."""
        metrics = metrics_of(self._course.step if step is None else step, **fields)
        if metrics != comments.Metrics():
            self._comment(metrics)

    def budget(
        self, total: Money | None = None, *, remaining: Money | None = None, tokens: int | None = None
    ) -> None:
        """`# budget: $50.00 remaining=$47.23 tokens=12847`."""
        amount = None if total is None else scalars.amount("total", total)
        left = None if remaining is None else scalars.amount("remaining", remaining)
        self._comment(comments.Budget(amount, left, tokens))

    def model_switch(self, model: str, *, reason: str | None = None) -> None:
        """`# model: haiku reason="topic detection"`."""
        self._comment(comments.ModelSwitch(model, reason))

    def condense(self, first: int, last: int, *, detail: str | None = None) -> None:
        """`# condense range=50-100 detail=summary`."""
        self._comment(comments.Condense(first, last, detail))

    def anchor(self, step: int, *, reason: str | None = None) -> None:
        """`# anchor step=75 reason="key decision"`."""
        self._comment(comments.Anchor(step, reason))

    def memory_store(self, store: str, *, target: str | None = None) -> None:
        """`# memory store=all target=vectordb`."""
        self._comment(comments.MemoryStore(store, target))

    def file_snapshot(self, message_id: str, *, files: int | None = None) -> None:
        """`# file-snapshot: b2d8cc51 files=0`."""
        self._comment(comments.FileSnapshot(message_id, files))

    def queue(self, action: str, message: str | None = None) -> None:
        """`# queue: enqueue "…"`, `# queue: remove`."""
        self._comment(comments.QueueOperation(action, message))

    def raw_event(self, event: str | Mapping[str, object], *, source: str = comments.RAW_SOURCE) -> None:
        """`# codex: {…}`: an event of another log, as JSON text or as a mapping."""
        text = event if isinstance(event, str) else msgspec.json.encode(event).decode()
        self._comment(comments.RawEvent(source, text))


def _assessment(priorities: Iterable[tuple[str, str]]) -> Result:
    parts = [f"{_priority(level)}: {spelling.task(task)}" for level, task in priorities]
    return parse_result(", ".join(parts), escaped=True)


def _priority(level: str) -> str:
    if not (level[:1] == "P" and level[1:].isdecimal()):
        raise UsageError(f"priority {level[:80]!r} is none", "write it as P0, P1, P2 …")
    return level
