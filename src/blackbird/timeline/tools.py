"""Joins what tools did, by the word of who ran them, to the calls of a conversation: by id, else by use and time."""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from blackbird.canon import details as results
from blackbird.canon.model import Amend, Call, Evidence, Item, Result, Thread, ToolCall, ToolResult
from blackbird.exchange import payloads
from blackbird.timeline.weaving import keys
from blackbird.timeline.weaving.threads import MAIN

_START, _END, _WHOLE = "start", "end", "whole"
_PLAIN = re.compile(r"[^0-9a-z]+")
_ENCODER = msgspec.json.Encoder(order="deterministic")
#: How far apart a call and its use may be if no id joins them: a user may take a while to allow it.
_LONGEST_WAIT_NS = 3600 * 1_000_000_000
#: Clocks of one machine, and the moment at which an answer counts as read, differ by less.
_EARLY_NS = 5 * 1_000_000_000
_NS_PER_MS = 1_000_000


class Told(NamedTuple):
    """One event: what it says, when that was, and where it stands."""

    fields: Mapping[str, Any]
    at: int
    evidence: Evidence

    @property
    def id(self) -> str:
        """What names it; an event without an id is named by its place."""
        place = f"{self.evidence.segment}:{self.evidence.sequence}"
        return payloads.text(self.fields, "id") or place

    @property
    def arguments(self) -> dict[str, Any]:
        """What the tool was given."""
        return dict(payloads.inner(self.fields, "input"))


class Deed:
    """One use of a tool: what was told when it began, and when it ended."""

    def __init__(self, start: Told | None, end: Told | None) -> None:
        self.start = start
        self.end = end

    @property
    def told(self) -> tuple[Told, ...]:
        """All that was told of it."""
        both = (self.start, self.end if self.end is not self.start else None)
        return tuple(event for event in both if event is not None)

    @property
    def at(self) -> int:
        """When it began, as far as anyone knows."""
        return self.told[0].at

    @property
    def fields(self) -> dict[str, Any]:
        """What is known of it."""
        return {key: value for event in self.told for key, value in event.fields.items()}

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Where that stands."""
        return tuple(event.evidence for event in self.told)

    def details(self) -> dict[str, Any]:
        """What it adds to a result, under the names that agents' own logs have for it."""
        fields = self.fields
        reads, writes = _texts(fields, "reads"), _texts(fields, "writes")
        found: dict[str, Any] = {key: payloads.text(fields, key) for key in ("patch", "command", "cwd")}
        found |= {"exit_code": payloads.number(fields, "exit_code"), "duration_ms": self._duration(fields)}
        found |= {"path": next(iter(writes + reads), None), "reads": reads or None, "writes": writes or None}
        return {key: value for key, value in found.items() if value is not None}

    def _duration(self, fields: Mapping[str, Any]) -> int | None:
        given = fields.get("duration_ms")
        if isinstance(given, int | float) and not isinstance(given, bool):
            return round(given)
        if self.start is None or self.end is None or self.start is self.end:
            return None
        return max(0, self.end.at - self.start.at) // _NS_PER_MS


def joined(items: Sequence[Item], events: Iterable[Told], threads: Sequence[Thread]) -> list[Item | Amend]:
    """What events tell of the calls of a conversation, and the calls that only they tell of."""
    conversation = _Conversation(items)
    news: list[Item | Amend] = []
    alone: list[Deed] = []
    deeds = _deeds(events)
    # Ids first: what they join is not there for those that have none.
    for deed in sorted(deeds, key=lambda deed: payloads.text(deed.fields, "call_id") is None):
        call = conversation.call_of(deed)
        if call is None:
            alone.append(deed)
        else:
            news += conversation.told(call, deed)
    for deed in alone:
        news += _apart(deed, threads)
    return news


def _deeds(events: Iterable[Told]) -> list[Deed]:
    """Starts and ends of the same use, put together; in the order in which they began."""
    once: dict[str, Told] = {}
    for event in sorted(events, key=lambda event: (event.evidence.segment or 0, event.evidence.sequence or 0)):
        # What was sent twice counts once.
        once.setdefault(event.id, event)
    open_: defaultdict[tuple[str, ...], deque[Deed]] = defaultdict(deque)
    found: list[Deed] = []
    for event in sorted(once.values(), key=lambda event: (event.at, event.id)):
        kind, tool = event.fields.get("event"), payloads.text(event.fields, "tool")
        if tool is None or kind not in (_START, _END, _WHOLE):
            continue
        key = _key(event)
        waiting = open_[key]
        if kind == _END and waiting:
            waiting.popleft().end = event
            continue
        deed = Deed(event if kind != _END else None, event if kind != _START else None)
        found.append(deed)
        if kind == _START:
            waiting.append(deed)
    return found


def _key(event: Told) -> tuple[str, ...]:
    """What a start and its end have in common."""
    fields = event.fields
    whose = tuple(payloads.text(fields, key) or "" for key in ("client", "run", "native_session"))
    call_id = payloads.text(fields, "call_id")
    if call_id is not None:
        return (*whose, "id", call_id)
    return (*whose, payloads.text(fields, "tool") or "", _ENCODER.encode(event.arguments).decode())


class _Conversation:
    """The calls and results of a session; each is told of once."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._by_id: defaultdict[str, list[Call]] = defaultdict(list)
        self._by_tool: defaultdict[str, list[Call]] = defaultdict(list)
        self._results: defaultdict[tuple[str, str], list[Result]] = defaultdict(list)
        self._taken: set[str] = set()
        for item in items:
            if isinstance(item, Call):
                self._by_id[item.call_id].append(item)
                self._by_tool[_plain(item.call.name)].append(item)
            elif isinstance(item, Result):
                self._results[item.thread, item.call_id].append(item)

    def call_of(self, deed: Deed) -> Call | None:
        """The call that a use came of: the one with its id, or the nearest with the same tool and arguments."""
        call_id = payloads.text(deed.fields, "call_id")
        if call_id is not None:
            candidates = self._by_id.get(call_id, [])
        else:
            same = self._by_tool.get(_plain(payloads.text(deed.fields, "tool") or ""), [])
            candidates = [call for call in same if _is_near(call, deed) and _is_alike(call.call, deed)]
        free = [call for call in candidates if call.id not in self._taken]
        if not free:
            return None
        call = min(free, key=lambda call: (call.is_inherited, abs((call.at or 0) - deed.at)))
        self._taken.add(call.id)
        return call

    def told(self, call: Call, deed: Deed) -> list[Item | Amend]:
        """What a use tells of a call and its result."""
        begun: list[Item | Amend] = [Amend(id=call.id, evidence=deed.evidence[:1])]
        known = self._results.get((call.thread, call.call_id), [])
        result = next((result for result in known if result.id not in self._taken), None)
        if result is None:
            return begun + ([_result(deed, call)] if deed.end is not None else [])
        self._taken.add(result.id)
        found = deed.details()
        if "command" in found and "exit_code" not in found:
            code = results.exit_code(result.result.text)
            found |= {} if code is None else {"exit_code": code}
        added = {key: value for key, value in found.items() if key not in result.result.details}
        failed = _failed(deed.fields, found) if result.result.error is None else None
        return [*begun, Amend(id=result.id, evidence=deed.evidence, details=added or None, error=failed)]


def _is_near(call: Call, deed: Deed) -> bool:
    return call.at is not None and -_EARLY_NS <= deed.at - call.at <= _LONGEST_WAIT_NS


def _is_alike(call: ToolCall, deed: Deed) -> bool:
    """Whether a call was given what the tool says it was; a text that was cut counts as far as it goes."""
    given = deed.told[0].arguments
    wanted = call.arguments or {}
    is_cut = "input" in (deed.told[0].fields.get("cut") or [])
    return all(_is_same(wanted.get(key), value, is_cut=is_cut) for key, value in given.items() if key in wanted) and (
        bool(given.keys() & wanted.keys()) or not wanted
    )


def _is_same(wanted: Any, given: Any, *, is_cut: bool) -> bool:
    if isinstance(wanted, str) and isinstance(given, str):
        return wanted == given or (is_cut and wanted.startswith(given))
    return bool(wanted == given) or (is_cut and isinstance(given, list | dict))


def _apart(deed: Deed, threads: Sequence[Thread]) -> list[Item | Amend]:
    """A use that no call of the conversation led to."""
    fields, first = deed.fields, deed.told[0]
    call_id = payloads.text(fields, "call_id")
    item_id = keys.item("event", first.id, "call")
    command = payloads.text(fields, "command")
    arguments = first.arguments or ({"command": command} if command is not None else {})
    call = Call(
        id=item_id,
        thread=_thread_of(fields, threads),
        at=deed.at,
        evidence=deed.evidence[:1],
        call_id=call_id or f"call_{item_id.removeprefix('it_')}",
        call=ToolCall(
            name=payloads.text(fields, "tool") or "",
            call_id=call_id,
            arguments=arguments,
            raw=_ENCODER.encode(arguments).decode(),
        ),
        is_made_up=call_id is None,
        run=payloads.text(fields, "run"),
        task=payloads.text(fields, "task"),
    )
    return [call, _result(deed, call)] if deed.end is not None else [call]


def _result(deed: Deed, call: Call) -> Result:
    fields, found = deed.fields, deed.details()
    last = deed.told[-1]
    return Result(
        id=keys.item("event", last.id, "result"),
        thread=call.thread,
        at=last.at,
        parent=call.id,
        evidence=deed.evidence[-1:],
        call_id=call.call_id,
        result=ToolResult(
            call_id=call.call_id,
            text=payloads.text(fields, "output") or payloads.text(fields, "error") or "",
            error=_failed(fields, found),
            name=call.call.name,
            details=found,
        ),
    )


def _failed(fields: Mapping[str, Any], found: Mapping[str, Any]) -> bool | None:
    failed, code = fields.get("failed"), found.get("exit_code")
    if code is not None:
        return bool(code)
    return failed if isinstance(failed, bool) else None


def _thread_of(fields: Mapping[str, Any], threads: Sequence[Thread]) -> str:
    natives = [payloads.text(fields, key) for key in ("native_thread", "native_session")]
    by_native = {thread.native: thread.id for thread in threads if thread.native is not None}
    known = [by_native[native] for native in natives if native in by_native]
    return next(iter(known), next((thread.id for thread in threads if thread.parent is None), MAIN))


def _texts(fields: Mapping[str, Any], key: str) -> list[str]:
    found = fields.get(key)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _plain(name: str) -> str:
    return _PLAIN.sub("", name.lower())
