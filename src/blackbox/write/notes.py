"""Comments: remarks for people, and the typed ones that carry figures."""

import datetime as dt
import decimal
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

import msgspec

from blackbox.events import comments
from blackbox.syntax.results import Blob
from blackbox.syntax.values import clock as seconds_of
from blackbox.syntax.values import money as amount_of
from blackbox.write import scalars
from blackbox.write.base import Base
from blackbox.write.scalars import Argument, Money


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
        given["cost_usd"] = amount_of(scalars.money("cost_usd", cost))
    for key in ("extra", "other"):
        if key in given:
            given[key] = {name: scalars.text_of(value) for name, value in given[key].items()}
    return comments.Metrics(step=step, **given)


class Notes(Base):
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
        self._comment(comments.Budget(_amount("total", total), _amount("remaining", remaining), tokens))

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

    def raw_event(self, event: str | Mapping[str, object], *, source: str = "codex") -> None:
        """`# codex: {…}`: an event of another log, as JSON text or as a mapping."""
        text = event if isinstance(event, str) else msgspec.json.encode(event).decode()
        self._comment(comments.RawEvent(source, text))


def _amount(name: str, given: Money | None) -> decimal.Decimal | None:
    return None if given is None else amount_of(scalars.money(name, given))
