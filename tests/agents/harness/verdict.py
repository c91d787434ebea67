"""What a flight through the recorder proves beside one without it: findings, each in a few words. Pure."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.agents.harness import likeness
from tests.agents.harness.flight import Flight


@dataclass
class Verdict:
    """What did not hold, by what was asked."""

    end: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    recording: list[str] = field(default_factory=list)
    #: Requests to providers that a base URL does not lead through the recorder.
    past: list[str] = field(default_factory=list)

    def wrong(self) -> dict[str, list[str]]:
        """All that did not hold."""
        parts = ("end", "calls", "log", "output", "recording")
        return {name: getattr(self, name) for name in parts if getattr(self, name)}


def judge(
    direct: Flight, through: Flight, hosts: set[str], way: str, *, streams: tuple[str, ...] = ("stdout", "stderr")
) -> Verdict:
    """Compare a flight through the recorder with one without."""
    verdict = Verdict()
    for name in ("exit_code", "repaired", "test_passes"):
        before, after = getattr(direct, name), getattr(through, name)
        if before != after:
            verdict.end.append(f"{name} {before} became {after}")
    for name in streams:
        one, other = (likeness.lines(getattr(flight, name)) for flight in (direct, through))
        verdict.output += [f"{name} {item}" for item in likeness.difference(one, other)]
    calls = [likeness.model_calls(flight.received) for flight in (direct, through)]
    verdict.calls += likeness.body_difference(*calls)
    verdict.log += likeness.difference(_log(direct), _log(through))
    verdict.recording += _recording(through, hosts, way)
    if way == "reverse":
        all_seen = likeness.seen(through.received, hosts, all_calls=True)
        verdict.past = sorted((all_seen - likeness.recorded(through.exchanges)).elements())
    return verdict


def _log(flight: Flight) -> Counter[str]:
    return Counter(line for text in flight.logs.values() for line in likeness.log(text).elements())


def _recording(through: Flight, hosts: set[str], way: str) -> list[str]:
    """Every request is in the trace, under this run, and no key is."""
    found: list[str] = []
    expected = likeness.seen(through.received, hosts, all_calls=way == "forward")
    kept = likeness.recorded(through.exchanges)
    found += [f"not recorded: {place}" for place in sorted((expected - kept).elements())]
    if way == "forward":
        found += [f"recorded, and never seen: {place}" for place in sorted((kept - expected).elements())]
    runs = {event["run"] for event in through.events if event["event"] == "run.start"}
    if len(runs) != 1:
        found.append(f"{len(runs)} runs in place of one")
    for exchange in through.exchanges:
        if exchange.start.get("via") == "tunnel":
            continue
        if exchange.start["attribution"] != "run" or exchange.start["run"] not in runs:
            found.append(f"not attributed: {exchange.start['method']} {exchange.start['url']}")
        if not exchange.is_over:
            found.append(f"without an end: {exchange.start['method']} {exchange.start['url']}")
        found += [f"a gap: {gap}" for gap in exchange.gaps]
    sent = sum(len(request.messages) for request in through.received)
    messages = sum(len(exchange.sent_by("client")) for exchange in through.exchanges)
    if sent != messages:
        found.append(f"{messages} of {sent} messages of WebSockets")
    if through.verified:
        found.append(f"trace verify: {through.verified[:300]}")
    found += [f"a key is in {name}" for name in through.leaks]
    return found


def ends(flight: Flight) -> dict[str, Any]:
    """How the recorded requests ended: their statuses, and the codes of those that broke."""
    statuses: Counter[str] = Counter()
    for exchange in flight.exchanges:
        if exchange.start.get("via") != "tunnel":
            statuses[exchange.error["code"] if exchange.error else str(exchange.head["status"])] += 1
    return dict(sorted(statuses.items()))
