"""The `@` primitives of long sessions, each with its own fields. Unknown ones are kept as `Other`."""

import decimal
import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from blackbox.events.calls import Arguments
from blackbox.syntax.escape import unescape
from blackbox.syntax.results import Result
from blackbox.syntax.tokens import Value
from blackbox.syntax.values import boolean, duration, integer, money


class Start(msgspec.Struct, frozen=True):
    """`@start id=… budget=$50 duration=12h`."""

    id: str | None = None
    budget: decimal.Decimal | None = None
    duration: float | None = None


class Checkpoint(msgspec.Struct, frozen=True):
    """`@checkpoint hour=4 tokens=45000 cost=$12.30`."""

    hour: decimal.Decimal | None = None
    tokens: int | None = None
    cost: decimal.Decimal | None = None


class Pause(msgspec.Struct, frozen=True):
    """`@pause reason="…"`."""

    reason: str | None = None


class Resume(msgspec.Struct, frozen=True):
    """`@resume`."""

    reason: str | None = None


class End(msgspec.Struct, frozen=True):
    """`@end summary="…" prs=[201,202] issues=8`, or with the totals of an imported session."""

    summary: str | None = None
    prs: tuple[str, ...] = ()
    issues: int | None = None
    tokens: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: decimal.Decimal | None = None


class Assess(msgspec.Struct, frozen=True):
    """`@assess → P0: task, P1: task`: priorities with their tasks."""

    priorities: tuple[tuple[str, str], ...] = ()


class Notify(msgspec.Struct, frozen=True):
    """`@notify "…"`: told a human, did not wait."""

    message: str = ""


class Wait(msgspec.Struct, frozen=True):
    """`@wait-approval pr=47 timeout=2h → approved`; `subject` is what stands behind `wait-`."""

    subject: str = ""
    timeout: float | None = None
    outcome: str | None = None


class Escalate(msgspec.Struct, frozen=True):
    """`@escalate "…"`: asked a human for help."""

    message: str = ""


class Batch(msgspec.Struct, frozen=True):
    """`@batch [issue-142, issue-156] reason="related"`."""

    items: tuple[str, ...] = ()
    reason: str | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """`@snapshot id=after_pr "…"`."""

    id: str | None = None
    message: str = ""


class Rotate(msgspec.Struct, frozen=True):
    """`@rotate file=part2.bbox`: the session goes on in another file."""

    file: str | None = None


class Compact(msgspec.Struct, frozen=True):
    """`@compact reason="…" tokens_before=180000 tokens_after=8000`."""

    reason: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


class Phase(msgspec.Struct, frozen=True):
    """`@phase exit approved=true swarm=true teammates=3`."""

    name: str = ""
    approved: bool | None = None
    swarm: bool | None = None
    teammates: int | None = None


class Init(msgspec.Struct, frozen=True):
    """`@init model=…`: the model answered for the first time."""

    model: str | None = None


class Other(msgspec.Struct, frozen=True):
    """A primitive this version does not know, kept with all it carries."""

    name: str


Primitive = (
    Start
    | Checkpoint
    | Pause
    | Resume
    | End
    | Assess
    | Notify
    | Wait
    | Escalate
    | Batch
    | Snapshot
    | Rotate
    | Compact
    | Phase
    | Init
    | Other
)


class Lifecycle(msgspec.Struct, frozen=True):
    """An `@` line: the primitive with typed fields, and its arguments and result as written."""

    name: str
    primitive: Primitive
    arguments: Arguments
    result: Result | None
    comment: str | None = None


_PRIORITY = re.compile(r"(?:^|[,;\n])[ \t]*(P\d+)[ \t]*:[ \t]*")
_ESCAPED_PRIORITY = re.compile(rf"\\.|{_PRIORITY.pattern}", re.DOTALL)


class _Given(NamedTuple):
    """What a primitive is built from. `meta` holds what every line may carry: `id=`, `model=`, `tokens_in=` …"""

    name: str
    arguments: Arguments
    meta: dict[str, str]
    result: Result | None

    def text(self, key: str) -> str | None:
        return self.arguments.text(key)


def build_primitive(name: str, arguments: Arguments, meta: dict[str, str], result: Result | None) -> Primitive:
    """The typed fields of `@name`."""
    builder = _BUILDERS.get("wait" if name.startswith("wait-") else name)
    return builder(_Given(name, arguments, meta, result)) if builder else Other(name)


def _wait(given: _Given) -> Wait:
    outcome = given.result.text if given.result is not None else None
    return Wait(given.name[5:], duration(given.text("timeout")), outcome)


def _assess(given: _Given) -> Assess:
    result = given.result
    if result is None:
        return Assess(_priorities(given.arguments.words))
    return Assess(_priorities(result.raw, escaped=True) if result.raw else _priorities(result.text))


def _end(given: _Given) -> End:
    text, meta = given.text, given.meta
    return End(
        text("summary"),
        _items(given.arguments.keyword.get("prs", ())),
        integer(text("issues")),
        integer(text("tokens")),
        integer(meta.get("tokens_in")),
        integer(meta.get("tokens_out")),
        money(text("cost") or text("cost_usd")),
    )


def _phase(given: _Given) -> Phase:
    text = given.text
    name = given.arguments.positional[0] if given.arguments.positional else ""
    return Phase(
        name if isinstance(name, str) else ", ".join(name),
        boolean(text("approved")),
        boolean(text("swarm")),
        integer(text("teammates")),
    )


def _batch_items(arguments: Arguments) -> tuple[str, ...]:
    return tuple(item for value in arguments.positional for item in _items(value))


def _items(value: Value) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _priorities(text: str, *, escaped: bool = False) -> tuple[tuple[str, str], ...]:
    plain = unescape if escaped else str
    marks = [mark for mark in (_ESCAPED_PRIORITY if escaped else _PRIORITY).finditer(text) if mark[1]]
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    tasks = (text[mark.end() : end].strip(" \t\n,;") for mark, end in zip(marks, ends, strict=True))
    return tuple((mark[1], plain(task)) for mark, task in zip(marks, tasks, strict=True))


_BUILDERS: dict[str, Callable[[_Given], Primitive]] = {
    "start": lambda g: Start(g.meta.get("id"), money(g.text("budget")), duration(g.text("duration"))),
    "checkpoint": lambda g: Checkpoint(money(g.text("hour")), integer(g.text("tokens")), money(g.text("cost"))),
    "pause": lambda g: Pause(g.text("reason")),
    "resume": lambda g: Resume(g.text("reason")),
    "end": _end,
    "assess": _assess,
    "notify": lambda g: Notify(g.arguments.words),
    "wait": _wait,
    "escalate": lambda g: Escalate(g.arguments.words),
    "batch": lambda g: Batch(_batch_items(g.arguments), g.text("reason")),
    "snapshot": lambda g: Snapshot(g.meta.get("id"), g.arguments.words),
    "rotate": lambda g: Rotate(g.text("file") or g.arguments.words or None),
    "compact": lambda g: Compact(g.text("reason"), integer(g.text("tokens_before")), integer(g.text("tokens_after"))),
    "phase": _phase,
    "init": lambda g: Init(g.meta.get("model")),
}
#: The names of the primitives this version knows; `wait-…` counts as `wait`.
KNOWN = frozenset(_BUILDERS)
