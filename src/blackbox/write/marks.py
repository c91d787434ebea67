"""The `@` primitives of long sessions."""

from collections.abc import Iterable
from typing import Unpack

from blackbox.errors import UsageError
from blackbox.events import lifecycle
from blackbox.syntax.results import Result, parse_result
from blackbox.write import scalars, spelling
from blackbox.write.base import Base, Outcome, arguments_of, result_of
from blackbox.write.scalars import Argument, Duration, MetaFields, Money


class Marks(Base):
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
        given = arguments_of(args, kwargs)
        primitive = lifecycle.build_primitive(name, given, scalars.meta_of(meta or {}), result_of(result))
        self._append(lifecycle.Lifecycle(name, primitive, given, result_of(result), comment), meta)

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
        given, result = arguments_of((), about), result_of(outcome)
        primitive = lifecycle.build_primitive("wait-approval", given, {}, result)
        self._append(lifecycle.Lifecycle("wait-approval", primitive, given, result), meta)

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


def _assessment(priorities: Iterable[tuple[str, str]]) -> Result:
    parts = [f"{_priority(level)}: {spelling.task(task)}" for level, task in priorities]
    return parse_result(", ".join(parts), escaped=True)


def _priority(level: str) -> str:
    if not (level[:1] == "P" and level[1:].isdecimal()):
        raise UsageError(f"priority {level[:80]!r} is none", "write it as P0, P1, P2 …")
    return level
