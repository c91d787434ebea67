"""The official libraries do the repair to its end by `blackbird run`, and their own retries work as without it."""

import functools

import pytest

from blackbird.provider import Manner, Provider
from blackbird.provider.jobs import DONE, FIXED
from tests.blackbird.launch.cockpit import BLACKBIRD
from tests.blackbird.stand_ins.airfield import Airfield, Flight, kept, requests, sent

#: Ollama has no host of its own, so no proxy is asked for it.
NAMES = ("anthropic", "openai", "gemini", "ollama")
#: The libraries that try again by themselves meet a fault at the second step.
FAULTS = {"anthropic": Manner(status=529, retry_after=0), "openai": Manner(status=429, retry_after=0)}
VARIABLES = {
    "anthropic": ("ANTHROPIC_BASE_URL", ""),
    "openai": ("OPENAI_BASE_URL", "/v1"),
    "gemini": ("GOOGLE_GEMINI_BASE_URL", ""),
    "ollama": ("OLLAMA_HOST", ""),
}


def fly(airfield: Airfield, way: str | None) -> Flight:
    names = NAMES[:3] if way == "--forward" else NAMES
    providers = {name: Provider(steps={2: FAULTS[name]} if name in FAULTS else {}) for name in names}
    for provider in providers.values():
        provider.start()
    try:
        if way is None:
            urls = {VARIABLES[name][0]: provider.url + VARIABLES[name][1] for name, provider in providers.items()}
            return airfield.fly(["sdks", *names], urls, list(providers.values()))
        upstreams = [word for name in names for word in ("--upstream", f"{name}={providers[name].url}")]
        words = [str(BLACKBIRD), "run", "--json", way, *upstreams, "--", "sdks", *names]
        return airfield.fly(words, {}, list(providers.values()))
    finally:
        for provider in providers.values():
            provider.stop()


@functools.cache
def alone(airfield: Airfield) -> Flight:
    return fly(airfield, None)


@pytest.mark.parametrize("way", ["--reverse", "--forward"])
def test_the_libraries_do_the_same_through_run(airfield: Airfield, way: str) -> None:
    direct, through = alone(airfield), fly(airfield, way)
    assert (direct.exit_code, through.exit_code) == (0, 0), direct.stderr + through.stderr
    count = 3 if way == "--forward" else 4
    assert through.stdout.count(DONE) == count
    assert direct.stdout.startswith(through.stdout)
    assert FIXED in through.repaired
    usual = requests(direct)
    assert len(usual) == 22
    assert requests(through) == (usual if count == 4 else usual[:17])
    assert through.told is not None
    assert through.told["failed"] == {"429": 1, "529": 1}
    found = airfield.exchanges(through)
    assert sorted(map(kept, found)) == sorted(map(sent, through.received))
    assert {(each.start["attribution"], each.start["session"]) for each in found} == {
        ("run", through.told["session"])
    }
    assert airfield.leaks() == []
