"""Streams of small deltas, and requests that re-send their history: the same bytes for the same seed."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.corpus import prose
from blackbird.canon.reading import read
from blackbird.exchange.exchange import Exchange
from blackbird.timeline.prices import Pricer
from blackbird.timeline.weaver import Weaver
from blackbox.redaction.redactor import Redactor
from tests.blackbird.flights import Flight

#: Turns between two compactions: bodies grow to some 500 kB, as in a window of 130,000 tokens.
WINDOW = 200
_SUMMARY = "This session is being continued from a previous conversation that ran out of context. "


def redaction() -> Callable[[str], str]:
    """The rules for traffic, made ready."""
    redactor = Redactor().for_profile("wire")
    redactor.redact(_SUMMARY)
    return lambda text: redactor.redact(text).text


def streams(dialect: str, count: int, seed: int = 1) -> list[Exchange]:
    """Answers in deltas of 24 characters: a thought, a text, and a call with long arguments."""
    rng = random.Random(seed)
    flight = Flight(dialect, chunks=(1400,))
    for _ in range(count):
        flight.history.clear()
        given = {"path": "src/queue.rs", "content": prose(rng, 1500)}
        flight.turn(prose(rng, 20), says=prose(rng, 3000), thinks=prose(rng, 1500), calls=[("edit_file", given)])
    return flight.exchanges


def resent(count: int, seed: int = 1) -> Iterator[Exchange]:
    """Requests one after the other, each with the whole history since the last compaction; none is kept here.

    Each has some 80 kB of instructions and tools before its history, as a coding agent's have. What is to be cached
    is marked on the newest message alone, so the one before is never sent quite as it was.
    """
    rng = random.Random(seed)
    tools = [{"name": f"tool_{at}", "description": prose(rng, 500), "input_schema": {}} for at in range(20)]
    flight = Flight("messages", system=prose(rng, 3500))
    for number in range(count):
        if number % WINDOW == 0:
            flight.history.clear()
            flight.hear(prose(rng, 40) if number == 0 else _SUMMARY + prose(rng, 300), ())
        else:
            flight.hear(None, [prose(rng, 300)])
            flight.history[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        calls = [("run_command", {"command": f"cargo test {number}"})]
        yield flight.turn(says=prose(rng, 30), thinks=prose(rng, 20), calls=calls, tools=tools)
        if number % WINDOW:
            del flight.history[-2]["content"][-1]["cache_control"]
        flight.exchanges.clear()


class Reader:
    """From exchanges to items, none of which is kept: as a timeline is made, with prices and a second redaction."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._weaver = Weaver(prices=Pricer())

    def take(self, exchange: Exchange) -> int:
        """How many items came out."""
        return sum(len(self._weaver.exchange(seen)) for seen in read(exchange, self._redact))


def weigh(requests: int) -> None:
    """Weave requests and print the peak memory of this process in megabytes."""
    reader = Reader(redaction())
    for exchange in resent(requests):
        reader.take(exchange)
    # What `getrusage` says counts from before the start of this program.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1e3)
