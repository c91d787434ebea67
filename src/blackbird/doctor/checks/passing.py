"""Whether agents' calls pass through the recorder: those in their own logs are looked for in the trace."""

import bisect
from collections.abc import Iterator

from blackbird.doctor.facts.logs import Logs
from blackbird.doctor.facts.recorded import Call, Recorded
from blackbird.doctor.findings import Finding, note, ok, warning
from blackbird.doctor.native import Client, NativeCall
from blackbird.exchange.clock import to_rfc3339

_SECOND = 1_000_000_000
#: An agent notes a call some time after its last byte, and its clock is read some time before the first.
_BEFORE_NS, _AFTER_NS = 5 * _SECOND, 60 * _SECOND
_API = {Client.CLAUDE: "anthropic", Client.CODEX: "openai", Client.GEMINI: "gemini"}
_COMPARED = {
    Client.CLAUDE: "compared by request id",
    Client.CODEX: "compared by thread and time",
    Client.GEMINI: "compared by time",
}


def check(logs: list[Logs], recorded: Recorded, days: int) -> Iterator[Finding]:
    """For each agent that has logs, how many of its calls are not in the trace."""
    for each in logs:
        for problem in each.unreadable:
            yield note(f"{each.client}-log-unreadable", f"a log of {each.client} cannot be read", problem)
        if each.left_out:
            text = f"{each.left_out} logs of {each.client} are too long to be looked at"
            yield note(f"{each.client}-log-long", text, "", "blackbird doctor --days 1 looks at fewer")
        if recorded.begins_ns is None:
            continue
        calls = [call for call in each.calls if call.at_ns >= recorded.begins_ns]
        if calls:
            yield _judge(each.client, calls, recorded, days)


def past(calls: list[NativeCall], recorded: Recorded) -> list[NativeCall]:
    """The calls that the trace does not have, oldest first."""
    index = _Index(recorded.calls)
    return [call for call in calls if not index.has(call)]


class _Index:
    """Recorded calls by what they can be found by."""

    def __init__(self, calls: list[Call]) -> None:
        self._requests = {request for call in calls for request in call.requests}
        self._threads: dict[str, list[Call]] = {}
        for call in calls:
            for thread in call.threads:
                self._threads.setdefault(thread, []).append(call)
        #: With no head recorded, or no id in what the client sends, time is all there is.
        self._headless = {name: _Times([c for c in calls if c.api == name and not c.has_head]) for name in _names()}
        self._any = {name: _Times([c for c in calls if c.api == name]) for name in _names()}

    def has(self, call: NativeCall) -> bool:
        api = _API[call.client]
        if call.client is Client.GEMINI or (call.client is Client.CODEX and call.thread is None):
            return self._any[api].covers(call.at_ns)
        if call.request is not None and call.request in self._requests:
            return True
        if call.thread is not None and _Times(self._threads.get(call.thread, [])).covers(call.at_ns):
            return True
        return self._headless[api].covers(call.at_ns)


class _Times:
    """Stretches of time, in order of their beginning."""

    def __init__(self, calls: list[Call]) -> None:
        ordered = sorted(calls, key=lambda call: call.begin_ns)
        self._begins = [call.begin_ns - _BEFORE_NS for call in ordered]
        self._ends: list[int] = []
        for call in ordered:
            # The latest end so far: what began earlier may still have been under way.
            self._ends.append(max(call.end_ns + _AFTER_NS, self._ends[-1] if self._ends else 0))

    def covers(self, instant: int) -> bool:
        at = bisect.bisect_right(self._begins, instant)
        return at > 0 and self._ends[at - 1] >= instant


def _names() -> set[str]:
    return set(_API.values())


def _judge(client: Client, calls: list[NativeCall], recorded: Recorded, days: int) -> Finding:
    missing = past(calls, recorded)
    span = "in the last day" if days == 1 else f"in the last {days} days"
    if not missing:
        count = f"{len(calls)} call{'s' if len(calls) != 1 else ''}"
        return ok(f"{client}-passes", f"{count} of {client} {span}, and all were recorded", _COMPARED[client])
    newest = missing[-1]
    name = f", {newest.request or newest.thread}" if newest.request or newest.thread else ""
    return warning(
        f"{client}-passes-by",
        f"{len(missing)} of {len(calls)} calls of {client} {span} passed the recorder by",
        f"the newest {to_rfc3339(newest.at_ns)}{name}; {_COMPARED[client]}",
        f"start it with: blackbird run -- {client}",
    )
