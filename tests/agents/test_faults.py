"""What a provider does wrong reaches the client as it is: its own retry follows, and the end is the same."""

import functools
from collections.abc import Mapping

import pytest

from blackbird.provider import Fault, Manner
from tests.agents import test_flights
from tests.agents.harness import ledger, likeness, verdict
from tests.agents.harness.cases import cases
from tests.agents.harness.flight import Flight, fly
from tests.agents.test_flights import FLIGHTS, finish, recorded_hosts

CASES = {name: case for name, case in cases().items() if case.faults}
#: The step of the job whose first request meets the fault.
STEP = 2
#: With a gap between events, so that those before the fault have arrived when it comes.
FAULTS: Mapping[str, Manner] = {
    "429": Manner(status=429, retry_after=1),
    "5xx": Manner(status=500),
    "cut": Manner(fault=Fault.CUT, after=2, gap=0.1),
    "reset": Manner(fault=Fault.RESET, after=2, gap=0.1),
}


def fly_into(name: str, way: str, fault: str) -> Flight:
    case = CASES[name]
    manner = Manner(status=case.overload) if fault == "5xx" else FAULTS[fault]
    return fly(case, way, FLIGHTS / f"{name}-{way}-{fault}", steps={STEP: manner})


@functools.cache
def alone(name: str, fault: str) -> Flight:
    return fly_into(name, "direct", fault)


def asked(flight: Flight) -> int:
    """How often the model was asked, by a request or by a message of a WebSocket."""
    calls = [request for request in flight.received if likeness.is_model_call(request)]
    return sum(len(request.messages) or request.request_line[0] == "POST" for request in calls)


@pytest.mark.parametrize("way", ["reverse", "forward"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", CASES)
def test_fault_reaches_the_client_and_its_retry_the_provider(name: str, fault: str, way: str) -> None:
    direct = alone(name, fault)
    through = fly_into(name, way, fault)
    # What is said on stderr has the stack of the client's own sockets in it, which differ under TLS.
    found = verdict.judge(direct, through, recorded_hosts(), way, streams=("stdout",))
    allowed = CASES[name].allowed(way)
    unexpected = {part: what for part, what in found.wrong().items() if part not in allowed}
    usual = asked(test_flights.alone(name))
    retries = [asked(flight) - usual for flight in (direct, through)]
    row = {"passed": not unexpected, "retried": retries[1] > 0, "exit_code": through.exit_code}
    ledger.enter(f"{name}/{way}/{fault}", {**row, "unexpected": unexpected, "ends": verdict.ends(through)})
    assert unexpected == {}
    if fault in CASES[name].gives_up:
        assert (through.exit_code, through.repaired) == (1, False)
    else:
        assert finish(through) == (0, True, True), through.stderr[-2000:]
        assert retries == [1, 1]
