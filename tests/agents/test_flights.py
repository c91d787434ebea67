"""Real clients do the repair to its end: alone, by base URL and by proxy, with the same result each time."""

import functools
from urllib.parse import urlsplit

import pytest

from blackbird.config import settings
from tests.agents.harness import ledger, likeness, verdict
from tests.agents.harness.cases import Case, cases
from tests.agents.harness.flight import Flight, fly
from tests.agents.install import FOLDER

CASES = cases()
FLIGHTS = FOLDER / "flights"


@functools.cache
def alone(name: str) -> Flight:
    """A case without a recorder; one flight serves all comparisons."""
    return fly(CASES[name], "direct", FLIGHTS / f"{name}-direct")


def recorded_hosts() -> set[str]:
    """The hosts whose calls the recorder keeps."""
    return {urlsplit(url).hostname or "" for url in settings.built_in_upstreams().values()}


def finish(flight: Flight) -> tuple[int | None, bool, bool]:
    return flight.exit_code, flight.repaired, flight.test_passes


@pytest.mark.parametrize("name", CASES)
def test_client_alone_finishes_the_repair(name: str) -> None:
    flight = alone(name)
    assert finish(flight) == (0, True, True), flight.stderr[-2000:]


def test_codex_goes_each_of_its_three_ways() -> None:
    def ways(name: str) -> set[tuple[str, str, bool]]:
        calls = [request for request in alone(name).received if likeness.is_model_call(request)]
        return {(each.request_line[0], each.get("content-encoding"), bool(each.messages)) for each in calls}

    assert ways("codex-websocket") == {("GET", "", True)}
    assert ways("codex-http") == {("GET", "", False), ("POST", "", False)}
    assert ways("codex-zstd") == {("GET", "", False), ("POST", "zstd", False)}


@pytest.mark.parametrize("way", ["reverse", "forward"])
@pytest.mark.parametrize("name", CASES)
def test_client_through_run_does_the_same(name: str, way: str) -> None:
    case = CASES[name]
    direct = alone(name)
    through = fly(case, way, FLIGHTS / f"{name}-{way}")
    if way in case.refuses:
        check_refusal(case, way, through)
        return
    if way in case.unfit:
        check_other_host(case, way, direct, through)
        return
    found = verdict.judge(direct, through, recorded_hosts(), way)
    unexpected = {part: what for part, what in found.wrong().items() if part not in case.allowed(way)}
    known = {part: why for part, why in case.allowed(way).items() if part in found.wrong()}
    passed = not unexpected and finish(through) == (0, True, True)
    row = {"passed": passed, "chosen": through.chosen, "known": known, "unexpected": unexpected, "past": found.past}
    ledger.enter(f"{name}/{way}", {**row, "ends": verdict.ends(through)})
    assert finish(through) == (0, True, True), through.stderr[-2000:]
    assert unexpected == {}


def check_refusal(case: Case, way: str, through: Flight) -> None:
    """What cannot be done is said before anything is started."""
    ledger.enter(f"{case.name}/{way}", {"passed": True, "refused": case.refuses[way]})
    assert through.exit_code == 125
    assert case.refuses[way] in through.stderr
    assert through.received == []


def check_other_host(case: Case, way: str, direct: Flight, through: Flight) -> None:
    """The scripted provider answers under every name; the real one would not."""
    usual, other = ({call.host for call in likeness.model_calls(each.received)} for each in (direct, through))
    ledger.enter(f"{case.name}/{way}", {"passed": not usual & other, "refused": case.unfit[way].removesuffix(".")})
    assert not through.chosen
    assert usual & other == set()
