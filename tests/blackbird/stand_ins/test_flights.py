"""Stand-ins for real clients do the repair to its end: alone, by base URL and by proxy, the same each time."""

import functools
import tempfile
from pathlib import Path
from typing import Any

import pytest

from blackbird.provider import Manner, Provider
from blackbird.provider.jobs import FIXED
from tests.blackbird.launch.cockpit import BLACKBIRD, Cockpit
from tests.blackbird.stand_ins.airfield import (
    CLAUDE,
    CODEX,
    CODEX_ACCOUNT,
    GEMINI,
    OPENCODE,
    Airfield,
    Client,
    Flight,
    kept,
    requests,
    sent,
)

WAYS = {"default": (), "reverse": ("--reverse",), "forward": ("--forward",)}
HTTP_ALONE = Manner(upgrade=False)
#: The threads of each as they are shown: requests, kind, and those below.
Tree = tuple[int, str | None, list[Any]]
CASES: dict[str, tuple[Client, Manner, list[Tree]]] = {
    "claude": (CLAUDE, Manner(), [(6, None, [(1, "sub-agent", [])])]),
    "codex": (CODEX, Manner(), [(1, None, [(1, "collab_spawn", [])])]),
    "codex_http": (CODEX, HTTP_ALONE, [(6, None, [(2, "collab_spawn", [])])]),
    "gemini": (GEMINI, Manner(), [(5, None, [])]),
    "opencode": (OPENCODE, Manner(), [(6, None, [(1, "sub-agent", [])])]),
}


def finish(flight: Flight) -> tuple[int, bool, str]:
    return flight.exit_code, FIXED in flight.repaired, flight.stdout.rstrip().rpartition("\n")[2]


def check_equal(direct: Flight, through: Flight) -> None:
    assert finish(direct) == (0, True, "TODO: add a test for negative numbers."), direct.stderr
    assert through.result == direct.result, through.stderr
    assert requests(through) == requests(direct)
    assert through.answers == direct.answers


def check_recorded(airfield: Airfield, flight: Flight, via: str | None) -> None:
    """Every request that came to the provider is in the trace, as the run's, whole and without secrets."""
    assert flight.told is not None
    found = airfield.exchanges(flight)
    ids = {key: flight.told[key] for key in ("session", "task", "run")}
    assert [{key: each.start[key] for key in ids} for each in found] == [ids] * len(flight.received)
    assert {each.start["attribution"] for each in found} == {"run"}
    assert {each.start.get("via") for each in found} == {via}
    assert sorted(each.start["target"] for each in found) == sorted(
        request.request_line[1] for request in flight.received
    )
    assert sorted(map(kept, found)) == sorted(map(sent, flight.received))
    assert sum(flight.told["masked"].values()) > 0
    assert (flight.told["calls"], flight.told["tunnels"], flight.told["problem"]) == (len(found), 0, None)
    assert airfield.leaks() == []


def tree(threads: list[dict[str, Any]]) -> list[Tree]:
    return [(each["requests"], each["kind"], tree(each["children"])) for each in threads]


@functools.cache
def alone(airfield: Airfield, name: str) -> Flight:
    """A case without a recorder; one flight serves all comparisons."""
    client, manner, _ = CASES[name]
    airfield.sign_in(account=False)
    with Provider(manner=manner) as provider:
        return airfield.direct(client, provider)


@pytest.mark.requirement("CORE-07")
@pytest.mark.requirement("PROXY-22")
@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name in CASES for way in WAYS if (name, way) != ("codex_http", "forward")]
)
def test_a_client_through_run_does_the_same(airfield: Airfield, name: str, way: str) -> None:
    client, manner, threads = CASES[name]
    direct = alone(airfield, name)
    with Provider(manner=manner) as provider:
        is_usual = way == "default" and manner == Manner()
        through = airfield.through(client, airfield.cockpit.provider if is_usual else provider, *WAYS[way])
    check_equal(direct, through)
    check_recorded(airfield, through, None if way == "reverse" else "forward")
    shown = airfield.session(through)
    assert tree(shown["threads"]) == threads
    assert [run["client"] for run in shown["runs"]] == [client.name]


@pytest.mark.parametrize(
    ("client", "options"), [(CODEX_ACCOUNT, ()), (CODEX, ("--reverse",))], ids=["default", "reverse"]
)
def test_an_account_and_packed_requests(airfield: Airfield, client: Client, options: tuple[str, ...]) -> None:
    airfield.sign_in(account=True)
    try:
        with Provider(manner=HTTP_ALONE) as provider:
            direct = airfield.direct(client, provider)
        with Provider(manner=HTTP_ALONE) as provider:
            through = airfield.through(client, provider, *options)
    finally:
        airfield.sign_in(account=False)
    check_equal(direct, through)
    check_recorded(airfield, through, None if options == ("--reverse",) else "forward")
    posts = [request for request in through.received if request.request_line[0] == "POST"]
    assert {request.body[:4] for request in posts} == {bytes.fromhex("28b52ffd")}
    assert {each.field("content-encoding") for each in airfield.exchanges(through) if each.request} == {"zstd"}


@pytest.mark.parametrize("way", ["--reverse", "--forward"])
def test_without_websockets_codex_turns_to_http(airfield: Airfield, way: str) -> None:
    settings = {"BLACKBIRD_PROXY_WEBSOCKET": "decline", "BLACKBIRD_PROXY_LISTEN": "127.0.0.1:0"}
    direct = alone(airfield, "codex_http")
    with tempfile.TemporaryDirectory(prefix="bb") as folder, Provider() as provider:
        other = Airfield(Cockpit(Path(folder), provider))
        words = [str(BLACKBIRD), "run", "--json", way, "--upstream", f"openai={provider.url}", "--", "codex", "exec"]
        try:
            through = other.fly(words, settings, [provider])
            recorded = other.exchanges(through)
        finally:
            other.cockpit.down()
    assert (through.exit_code, through.repaired) == (direct.exit_code, direct.repaired), through.stderr
    assert requests(through) == [request for request in requests(direct) if request[0] == "POST"]
    assert through.told is not None
    assert (through.told["calls"], through.told["failed"]) == (8, {"refused": 2})
    assert {each.start["attribution"] for each in recorded} == {"run"}
