"""A session as rows that read like a replay: who said what, what was called, what came back, what changed."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from blackbird.canon.model import (
    Call,
    Generation,
    Item,
    Mark,
    Message,
    Origin,
    Outcome,
    Result,
    Role,
    Thinking,
)
from blackbird.deeds import changes, results
from blackbird.flightlog.conversations import Conversations
from blackbird.flightlog.entries import answers, spending
from blackbird.flightlog.entries.line import spoken
from blackbird.flightlog.moments import first_of, last_of, moment
from blackbird.timeline.timeline import Timeline
from blackbox.events import tools
from blackbox.write import scalars

#: How much of a text is shown of each kind unless all of it is wanted.
_LINES = {"user": 20, "agent": 12, "thinking": 12, "result": 6, "error": 20, "change": 12}
_BRIEF = 160
_SUPERSEDED = " (superseded)"
#: Of what a tool was given, what tells most; the keys without case and underscores.
_TELLING = (
    *("command", "cmd", "filepath", "path", "notebookpath", "absolutepath", "targetfile", "pattern", "query", "url"),
    *("description", "prompt", "message", "skill", "name", "id"),
)
_QUIET_MARKS = frozenset({"snapshot", "queue", "note", "other"})
_FOLDED = {
    Origin.CLIENT: "the client's own words",
    Origin.PACK: "context from Blackbird",
    Origin.SYSTEM: "system prompt",
}
#: Marks in plain words. An error, a model, a mode and a title are called so.
_MARKS = {
    "compact": "conversation compacted by the client",
    "snapshot": "snapshot of files",
    "queue": "queue of messages:",
    "interrupt": "interrupted",
    "note": "entry of the client's own log:",
    "other": "request of another kind:",
}


class Row(msgspec.Struct, frozen=True):
    """A row: what kind it is, seconds since the session began, how deep among sub-agents, its words and lines below.

    Kinds: `user`, `agent`, `thinking`, `call`, `result`, `error`, `change`, `failure`, `note`, and `turn`, where
    another conversation or a branch begins. `left_out` counts the lines that are not shown. What is inherited was
    there before the session began, and has no time in it.
    """

    kind: str
    since: float | None
    depth: int
    text: str
    body: tuple[str, ...] = ()
    left_out: int = 0
    is_inherited: bool = False


class Wish(msgspec.Struct, frozen=True):
    """What of a session is to be shown: thoughts, all of long texts, one thread alone."""

    thinking: bool = False
    full: bool = False
    thread: str | None = None


def rows(timeline: Timeline, wish: Wish) -> Iterator[Row]:
    """The rows of a session in order."""
    yield from _Replay(timeline, wish).rows()


class _Replay:
    def __init__(self, timeline: Timeline, wish: Wish) -> None:
        self._timeline = timeline
        self._wish = wish
        self._began = first_of(timeline)
        self._conversations = Conversations(timeline.threads, timeline.items)
        self._calls = {item.call_id: item for item in timeline.items if isinstance(item, Call)}
        self._results = {item.call_id: item for item in timeline.items if isinstance(item, Result)}
        self._direct = _direct(timeline.items)
        self._final = _final([item for item in timeline.items if self._is_main(item)])
        self._model: str | None = None

    def rows(self) -> Iterator[Row]:
        yield from self._folded()
        for item in self._timeline.items:
            turn = self._conversations.turn(item) if self._wish.thread is None else None
            if turn is not None:
                yield self._row(item, "turn", turn)
            if self._wish.thread in (None, item.thread):
                yield from self._rows(item)

    def _rows(self, item: Item) -> Iterator[Row]:
        match item:
            case Message():
                yield from self._message(item)
            case Call():
                yield self._call(item)
                change = self._change_of(item)
                if change is not None and not self._is_patched(item):
                    yield self._change(item, change)
            case Result():
                yield from self._result(item)
            case Generation():
                yield from self._generation(item)
            case Mark():
                yield from self._mark(item)

    def _folded(self) -> Iterator[Row]:
        """The system prompt and the tools in one line."""
        size = sum(
            len(spoken(item))
            for item in self._timeline.items
            if isinstance(item, Message) and item.origin is Origin.SYSTEM and self._is_main(item)
        )
        asked = [
            item
            for item in self._timeline.items
            if isinstance(item, Generation) and spending.is_own(item) and self._is_main(item)
        ]
        tools = max((len(item.tools) for item in asked), default=0)
        if not size and not tools:
            return
        digests = {
            (item.system_digest, item.tools_digest) for item in asked if item.system_digest or item.tools_digest
        }
        words = [f"{_FOLDED[Origin.SYSTEM]}, {thousands(size)} characters"] if size else []
        words += [f"{tools} tools" if tools != 1 else "1 tool"] if tools else []
        words += ["unchanged" if len(digests) == 1 else f"{len(digests)} versions"] if digests else []
        yield Row("note", 0.0 if self._began is not None else None, 0, ", ".join(words))

    def _is_main(self, item: Item) -> bool:
        return self._conversations.depth(item.thread) == 0

    def _message(self, item: Message) -> Iterator[Row]:
        if item.origin is Origin.SYSTEM and not self._wish.full:
            return
        if item.origin in _FOLDED:
            text = spoken(item)
            unit = "character" if len(text) == 1 else "characters"
            label = f"{_FOLDED[item.origin]}, {thousands(len(text))} {unit}"
            yield self._row(item, "note", label, text if self._wish.full else "")
            return
        if item.origin is Origin.SUMMARY:
            yield self._row(item, "note", "summary of what came before", spoken(item), limit="result")
            return
        if item.role is Role.USER:
            yield self._spoken(item, "user", spoken(item))
            return
        if self._wish.thinking:
            thoughts = "\n".join(part.text for part in item.parts if isinstance(part, Thinking) and part.text)
            if thoughts:
                yield self._spoken(item, "thinking", thoughts)
        text = spoken(item)
        if text.strip():
            yield self._spoken(item, "agent", text)

    def _spoken(self, item: Message, kind: str, text: str) -> Row:
        whole = self._wish.full or (kind == "agent" and item.id == self._final)
        label = {"user": "user", "agent": "agent", "thinking": "thinks"}[kind]
        label += _SUPERSEDED if item.is_superseded else ""
        return self._row(item, kind, label, text, limit=None if whole else kind)

    def _call(self, item: Call) -> Row:
        if not self._wish.full:
            return self._row(item, "call", f"→ {called(item)}")
        telling = telling_of(item)
        name = f"→ {item.call.name or '?'}"
        state = _SUPERSEDED if item.is_superseded else ""
        if "\n" in telling.strip("\n"):
            return self._row(item, "call", name + state, telling)
        return self._row(item, "call", f"{name} {telling.strip()}".rstrip() + state)

    def _result(self, item: Result) -> Iterator[Row]:
        made = self._calls.get(item.call_id)
        failed = results.is_error(item.result)
        text = answers.text_of(item.result)
        code = results.exit_code(item.result)
        words = ["←"]
        words += [f"{made.call.name}"] if made is not None and item.id not in self._direct else []
        words += [f"exit {code}"] if code else []
        words += ["failed"] if failed else []
        words += ["interrupted"] if results.is_interrupted(item.result) else []
        long = _lasted(made, item)
        words += [f"after {taken(long)}"] if long is not None else []
        yield self._row(item, "error" if failed else "result", " ".join(words), text)
        if made is not None and self._is_patched(made):
            change = self._change_of(made)
            if change is not None:
                yield self._change(item, change)

    def _change_of(self, call: Call) -> changes.Change | None:
        """What a call changed, by the client's own log if that has the patch; None if it failed or was given up."""
        result = self._results.get(call.call_id)
        if call.is_superseded or (result is not None and results.is_error(result.result)):
            return None
        return changes.change_of(call.call, None if result is None else result.result)

    def _is_patched(self, call: Call) -> bool:
        """Whether the client's own log has the patch."""
        change = self._change_of(call)
        return change is not None and change != changes.change_of(call.call)

    def _change(self, item: Call | Result, change: changes.Change) -> Row:
        text = f"+{change.added} -{change.removed} {change.path}".rstrip()
        return self._row(item, "change", text, "\n".join(change.lines))

    def _generation(self, item: Generation) -> Iterator[Row]:
        own = spending.is_own(item)
        note = spending.failure_note(item)
        if note is not None:
            yield self._row(item, "failure", note.text)
        elif item.attempt > 1:
            yield self._row(item, "note", f"attempt {item.attempt}")
        if own and item.model and item.model != self._model:
            if self._model is not None:
                yield self._row(item, "note", f"model {item.model}")
            self._model = item.model
        if not own and note is None and (item.usage is not None or self._wish.full):
            used = f", {thousands(item.usage.total)} tokens" if item.usage is not None else ""
            yield self._row(
                item, "note", f"{item.purpose.value} request{f' to {item.model}' if item.model else ''}{used}"
            )

    def _mark(self, item: Mark) -> Iterator[Row]:
        if item.kind in _QUIET_MARKS and not self._wish.full:
            return
        data = ", ".join(f"{key} {scalars.text_of(value)}" for key, value in item.data.items())
        label, told = _MARKS.get(item.kind, item.kind), item.text or data
        text = f"{label} {'' if told.lower() == label else told}".rstrip(": ")
        kind = "failure" if item.kind in ("error", "interrupt") else "note"
        yield self._row(item, kind, text if self._wish.full else _cut(" ".join(text.split())))

    def _row(self, item: Item, kind: str, text: str, body: str = "", *, limit: str | None = "kind") -> Row:
        lines = body.rstrip("\n").split("\n") if body.strip("\n") else []
        most = _LINES.get(kind if limit == "kind" else limit or "", len(lines))
        shown = len(lines) if self._wish.full else min(most, len(lines))
        if shown + 1 == len(lines):
            # A line that says that one is left out is no shorter than that one.
            shown = len(lines)
        has_time = item.at is not None and self._began is not None and not item.is_inherited
        since = max(0.0, ((item.at or 0) - (self._began or 0)) / 1e9) if has_time else None
        depth, left_out = self._conversations.depth(item.thread), len(lines) - shown
        return Row(kind, since, depth, text, tuple(lines[:shown]), left_out, item.is_inherited)


def _lasted(made: Call | None, item: Result) -> int | None:
    """How long a call took in nanoseconds: by both times, else by its client's word."""
    if made is not None and made.at is not None and item.at is not None:
        return item.at - made.at
    told = item.result.details.get("duration_ms")
    return told * 1_000_000 if isinstance(told, int) else None


def _direct(items: Sequence[Item]) -> frozenset[str]:
    """Results right below their calls, whose names need not be said again."""
    talk = [item for item in items if not isinstance(item, Generation)]
    pairs = itertools.pairwise(talk)
    return frozenset(
        item.id
        for before, item in pairs
        if isinstance(before, Call) and isinstance(item, Result) and before.call_id == item.call_id
    )


def _final(items: Sequence[Item]) -> str | None:
    """The last words of the agent itself."""
    said = (item for item in reversed(items) if isinstance(item, Message) and item.origin is Origin.AGENT)
    return next((item.id for item in said if not item.is_superseded and item.text.strip()), None)


def called(item: Call) -> str:
    """A call in one line: its tool, and what of its arguments tells most, cut if it is long."""
    brief = _cut(" ".join(telling_of(item).split()))
    return f"{item.call.name or '?'} {brief}".rstrip() + (_SUPERSEDED if item.is_superseded else "")


def telling_of(item: Call) -> str:
    """What of the arguments of a call tells most, all of it."""
    given: Mapping[str, Any] = item.call.arguments or {}
    telling = tools.first_text(given, _TELLING)
    if telling is None:
        telling = next((scalars.text_of(value) for value in given.values() if value not in (None, "")), item.call.raw)
    return telling


def _cut(text: str) -> str:
    return text if len(text) <= _BRIEF else text[: _BRIEF - 1] + "…"


def taken(nanoseconds: int) -> str:
    """How long something took: `0.84s`, `2m 05s`."""
    return since(max(0, nanoseconds) / 1e9)


def since(seconds: float) -> str:
    """A length of time as people read it."""
    if seconds < 60:
        return f"{seconds:.2f}s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours else f"{minutes}m {rest:02d}s"


def thousands(count: int) -> str:
    """A count as people read it: `12.2k`."""
    if count < 1000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


def head(timeline: Timeline) -> list[tuple[str, str]]:
    """What is to be known first: who, with which model, when, where, how long, what it used, how it ended."""
    about, spent = timeline.about, timeline.spent
    first, last = first_of(timeline), last_of(timeline)
    # A log of which only the start is dated does not tell how long it took.
    long = taken(last - first) if first is not None and last is not None and last > first else None
    found = [
        ("title", about.title or about.goal),
        ("client", " ".join(word for word in (about.client, about.client_version) if word)),
        ("model", ", ".join(about.models)),
        ("when", _when(first, long)),
        ("where", "  ".join(word for word in (about.cwd, about.branch, (about.sha or "")[:12]) if word)),
        ("tokens", _tokens(timeline)),
        ("cost", cost_words(spent.usd, spent.unknown) if spent.generations else None),
        ("outcome", _outcome(timeline)),
        ("before", _before(timeline)),
    ]
    return [(name, text) for name, text in found if text]


def _before(timeline: Timeline) -> str | None:
    """How much was said before the session began: in one that it goes on from, or before it was recorded."""
    said = sum(
        isinstance(item, Message) and item.is_inherited and item.origin in (Origin.USER, Origin.AGENT)
        for item in timeline.items
    )
    if not said and not any(item.is_inherited for item in timeline.items):
        return None
    told = f"{said} message{'s' if said != 1 else ''}" if said else "entries"
    return f"{told} from an earlier session or before recording began, not counted here"


def cost_words(usd: Any, unknown: Sequence[str]) -> str:
    """What it cost, or that this is not known, and of which models."""
    names = ", ".join(unknown)
    if usd is None:
        return f"cost unknown (no price for {names})" if names else "cost unknown"
    return f"${usd:.4f}" + (f", and no price for {names}" if names else "")


def _when(first: int | None, long: str | None) -> str | None:
    from_moment = None if first is None else _minute(first)
    return "  ".join(word for word in (from_moment, f"took {long}" if long else None) if word) or None


def _minute(at: int) -> str:
    when = moment(at)
    return "" if when is None else when.strftime("%Y-%m-%d %H:%M:%S UTC")


def _tokens(timeline: Timeline) -> str | None:
    usage = timeline.spent.usage
    if not usage.total:
        return None
    cached = f", {thousands(usage.cache_read)} of them from a cache" if usage.cache_read else ""
    return f"{thousands(usage.prompt)} read{cached}, {thousands(usage.output)} written"


def _outcome(timeline: Timeline) -> str | None:
    about = timeline.about
    if about.is_active:
        return "still running"
    if about.signal is not None:
        return f"ended by {about.signal}"
    if about.exit_code is not None:
        return f"exit code {about.exit_code}"
    last = next((item for item in reversed(timeline.items) if isinstance(item, Generation)), None)
    return None if last is None or last.outcome is Outcome.COMPLETE else f"the last response: {last.outcome.value}"
