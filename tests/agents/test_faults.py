"""What a provider does wrong reaches the client as it is: its own retry follows, and the end is the same."""

import dataclasses
import functools
from collections.abc import Mapping

import pytest

from blackbird.provider import Fault, Framing, Manner
from tests.agents import test_flights
from tests.agents.harness import ledger, likeness, verdict
from tests.agents.harness.cases import cases
from tests.agents.harness.flight import Flight, fly
from tests.agents.test_flights import FLIGHTS, finish, recorded_hosts

CASES = {name: case for name, case in cases().items() if case.faults}
#: With a gap between events, so that those before the fault have arrived when it comes.
FAULTS: Mapping[str, Manner] = {
    "429": Manner(status=429, retry_after=1),
    "5xx": Manner(status=500),
    "cut": Manner(fault=Fault.CUT, after=2, gap=0.1),
    "reset": Manner(fault=Fault.RESET, after=2, gap=0.1),
}
#: An answer in one piece is a single chunk, and the mark of its end is what does not come.
FAULTS_OF_ONE_PIECE: Mapping[str, Manner] = {
    name: manner if manner.fault is None else dataclasses.replace(manner, after=1, framing=Framing.CHUNKED)
    for name, manner in FAULTS.items()
}
TRIED = [(name, fault, way) for name, case in CASES.items() for fault in FAULTS for way in case.faults]


def fly_into(name: str, way: str, fault: str) -> Flight:
    case = CASES[name]
    faults = FAULTS if case.streams else FAULTS_OF_ONE_PIECE
    manner = Manner(status=case.overload) if fault == "5xx" else faults[fault]
    keep = FLIGHTS / f"{name}-{way}-{fault}"
    if case.step:
        return fly(case, way, keep, steps={case.step: manner})
    usual = test_flights.alone(name).received
    first = next(number for number, request in enumerate(usual, 1) if likeness.is_model_call(request))
    return fly(case, way, keep, turns={first: manner})


@functools.cache
def alone(name: str, fault: str) -> Flight:
    return fly_into(name, "direct", fault)


def asked(flight: Flight) -> int:
    """How often the model was asked, by a request or by a message of a WebSocket."""
    calls = [request for request in flight.received if likeness.is_model_call(request)]
    return sum(len(request.messages) or request.request_line[0] == "POST" for request in calls)


def what_came(name: str, fault: str, flight: Flight) -> list[str]:
    """What is not as this client takes this fault: it repeats the request once and finishes, or it gives up."""
    retries = asked(flight) - asked(test_flights.alone(name))
    if fault in CASES[name].gives_up:
        ended = retries <= 0 and (flight.exit_code, flight.repaired) == (1, False)
        return [] if ended else [f"it did not give up: {retries} retries, {finish(flight)}"]
    found = [] if finish(flight) == (0, True, True) else [f"it ended as {finish(flight)}: {flight.stderr[-600:]}"]
    return found if retries == 1 else [*found, f"{retries} retries"]


@pytest.mark.parametrize(("name", "fault", "way"), TRIED, ids=map("-".join, TRIED))
def test_fault_reaches_the_client_and_its_retry_the_provider(name: str, fault: str, way: str) -> None:
    direct = alone(name, fault)
    through = fly_into(name, way, fault)
    # What is said on stderr has the stack of the client's own sockets in it, which differ under TLS.
    found = verdict.judge(direct, through, recorded_hosts(), way, streams=("stdout",))
    allowed = CASES[name].allowed(way)
    unexpected = {part: what for part, what in found.wrong().items() if part not in allowed}
    unlike = {who: what_came(name, fault, flight) for who, flight in (("direct", direct), ("through", through))}
    row = {"passed": not unexpected and not any(unlike.values()), "retried": fault not in CASES[name].gives_up}
    more = {"exit_code": through.exit_code, "chosen": through.chosen, "ends": verdict.ends(through)}
    ledger.enter(f"{name}/{way}/{fault}", {**row, **more, "unexpected": unexpected})
    assert unexpected == {}
    assert unlike == {"direct": [], "through": []}
    assert through.chosen or len(CASES[name].faults) > 1
