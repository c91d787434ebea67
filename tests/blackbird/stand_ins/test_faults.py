"""What a provider does wrong reaches a client as without a recorder, which keeps each attempt as far as it went."""

import functools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from blackbird.launch.watch import Watch
from blackbird.provider import Fault, Manner, Provider
from blackbird.provider.jobs import FIXED
from tests.blackbird.stand_ins.airfield import CLAUDE, CODEX, GEMINI, OPENCODE, Airfield, Client, Flight, requests
from tests.recorder.trace_view import Exchange

#: With a gap between events, so that those before a fault have arrived when it comes.
GAP = 0.03
BUSY = Manner(status=429, retry_after=0)
BROKEN = Manner(status=500, retry_after=0)
CUT = Manner(fault=Fault.CUT, gap=GAP)
RESET = Manner(fault=Fault.RESET, gap=GAP)
SILENT = Manner(fault=Fault.RESET_BEFORE_HEAD)
CLOSED = Manner(fault=Fault.CLOSE, gap=GAP)

USUAL_MANNER = Manner()


@dataclass(frozen=True)
class Case:
    """A client, the fault at each step of its job, what the recorder counts of them, and how it ends."""

    client: Client
    steps: dict[int, Manner]
    failed: dict[str, int]
    manner: Manner = USUAL_MANNER
    exit_code: int = 0


USUAL = {1: BUSY, 2: BROKEN, 3: Manner(status=529, retry_after=0), 4: CUT, 5: RESET}
COUNTED = {"429": 1, "500": 1, "529": 1, "upstream_cut": 1, "upstream_reset": 1}
CASES = {
    "claude": Case(CLAUDE, USUAL, COUNTED),
    "codex": Case(CODEX, {1: BUSY, 2: CUT, 3: CLOSED, 4: RESET}, {"upstream_cut": 1, "upstream_reset": 1}),
    "codex_http": Case(CODEX, USUAL, COUNTED | {"426": 2}, Manner(upgrade=False)),
    "opencode": Case(OPENCODE, USUAL, COUNTED),
    "gemini": Case(
        GEMINI,
        {1: BUSY, 2: BROKEN, 3: Manner(status=503, retry_after=0), 4: SILENT, 5: Manner(fault=Fault.CUT, after=1)},
        {"429": 1, "500": 1, "503": 1, "upstream_reset": 1, "upstream_cut": 1},
        exit_code=1,
    ),
}


def attempts(exchanges: list[Exchange]) -> Counter[Any]:
    """The attempts over HTTP in the trace: status, what came of the body, and whether it came to its end."""
    found = [each for each in exchanges if not each.heads or each.head["status"] != 101]
    return Counter((each.head["status"] if each.heads else None, each.response, bool(each.error)) for each in found)


@functools.cache
def alone(airfield: Airfield, name: str) -> Flight:
    """A case without a recorder; one flight serves all comparisons."""
    case = CASES[name]
    with Provider(manner=case.manner, steps=case.steps) as provider:
        return airfield.direct(case.client, provider)


@pytest.mark.parametrize("way", ["--reverse", "--forward"])
@pytest.mark.parametrize("name", CASES)
def test_faults_reach_the_client_and_its_retry_the_provider(airfield: Airfield, name: str, way: str) -> None:
    case = CASES[name]
    direct = alone(airfield, name)
    with Provider(manner=case.manner, steps=case.steps) as provider:
        through = airfield.through(case.client, provider, way)
    assert (direct.exit_code, FIXED in direct.repaired) == (case.exit_code, True), direct.stderr
    assert through.result == direct.result, through.stderr
    assert through.answers == direct.answers
    assert requests(through) == requests(direct)
    assert through.told is not None
    assert through.told["failed"] == case.failed
    found = airfield.exchanges(through)
    assert len(found) == len(through.received)
    answered = [entry for entry in through.seen if entry["status"] not in (101, 1000)]
    assert attempts(found) == Counter(
        (entry["status"], entry["body"].encode("latin-1"), bool(entry["trouble"])) for entry in answered
    )


@pytest.mark.parametrize(
    ("status", "ended", "told"),
    [
        (529, {"where": "client", "code": "client_disconnected"}, "529"),
        (529, {"where": "upstream", "code": "upstream_cut"}, "upstream_cut"),
        (200, {"where": "client", "code": "client_reset"}, "client_reset"),
    ],
)
def test_a_client_that_leaves_a_refusal_unread_broke_nothing(
    tmp_path: Path, status: int, ended: dict[str, str], told: str
) -> None:
    watch = Watch(tmp_path, 1)
    watch._note_failure(b"request", {"status": status})
    watch._note_failure(b"request", ended)
    assert watch.failed == {b"request": told}
