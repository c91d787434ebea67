"""Kills a recorder under load, again and again, and holds the trace to what it promised just before.

python -m tests.soak.crash --rounds 200 --seed 1
"""

import argparse
import asyncio
import itertools
import os
import random
import signal
import socket
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from blackbird.exchange.catalog import Selection, recent
from blackbird.exchange.exchange import State
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from tests.recorder.harness import Recorder, until
from tests.soak import inspection
from tests.soak.client import Call, Manner, Seen
from tests.soak.inspection import Account, Reading
from tests.soak.upstream import Order, block, events, listen, port_of

_STREAMS = 24
_UPLOADS = 8
_QUICK = 6
_AFTER = 12
#: How often a kill interrupts a seal.
_SEALING = 0.5


@dataclass
class Promise:
    """What was known to be recorded at some moment: bytes of each response, bytes of each upload, sequences."""

    events: dict[str, bytes] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    sequence: int = 0
    synced: int = 0


class Load:
    """Streams, uploads and short requests, all at once."""

    def __init__(self, port: int, name: str, dice: random.Random) -> None:
        self.port = port
        self.name = name
        self.is_over = False
        self.seen: list[Seen] = []
        self.tasks: list[asyncio.Task[None]] = []
        for number in range(_STREAMS):
            order = Order("stream", f"{name}s{number}", 100_000, dice.choice((20, 200, 2000)), dice.choice((1, 3, 9)))
            self.begin(order, Manner())
        for number in range(_UPLOADS):
            manner = Manner(pieces=100_000, size=dice.choice((100, 1000)), pause=3, chunked=bool(number % 2))
            self.begin(Order("take", f"{name}u{number}", 0, 0, 0), manner)
        self.tasks += [asyncio.create_task(self._hurry(number)) for number in range(_QUICK)]

    def begin(self, order: Order, manner: Manner) -> asyncio.Task[None]:
        seen = Seen(order, manner, keeps=True)
        self.seen.append(seen)
        task = asyncio.create_task(Call(self.port, seen).run())
        self.tasks.append(task)
        return task

    async def _hurry(self, lane: int) -> None:
        """Short requests one after the other, until one is broken off or all is over."""
        for number in itertools.count():
            seen = Seen(Order("stream", f"{self.name}q{lane}n{number}", 3, 50, 0), Manner(), keeps=True)
            self.seen.append(seen)
            await Call(self.port, seen).run()
            if self.is_over or not seen.complete:
                return

    def snapshot(self) -> Promise:
        streams = {seen.order.target: seen.events for seen in self.seen if seen.order.kind == "stream"}
        return Promise(streams, {seen.order.target: seen.taken for seen in self.seen if seen.order.kind == "take"})

    async def progress(self) -> None:
        """Wait until each connection has brought something new.

        The recorder notes what it has handed on before it reads on, so what came before is noted then.
        """
        before = {id(seen): seen.got for seen in self.seen}
        waiting = [seen for seen in self.seen if not seen.over]
        async with asyncio.timeout(30):
            while any(not seen.over and seen.got == before[id(seen)] for seen in waiting):
                await asyncio.sleep(0.001)

    async def end(self) -> None:
        self.is_over = True
        async with asyncio.timeout(30):
            await asyncio.gather(*self.tasks)


class Campaign:
    """Rounds of load and kills over one trace."""

    def __init__(self, recorder: Recorder, seed: int) -> None:
        self.recorder = recorder
        self.dice = random.Random(seed)  # noqa: S311 - chance, not secrecy
        self.seen: list[Seen] = []
        self.instances: list[bytes] = []
        self.interrupted = 0
        #: Bytes that had passed before the promises, and so had to be there.
        self.promised = 0

    async def round(self, number: int, *, both: bool) -> None:
        """Load, a promise, a kill, and the question whether the promise was kept."""
        load = Load(self.recorder.port, f"r{number}", self.dice)
        await asyncio.sleep(self.dice.uniform(0.1, 0.3))
        promise = load.snapshot()
        await load.progress()
        # Answered when all that was noted before is written.
        await asyncio.to_thread(self.recorder.control, "append", type="tool.event", payload="{}")
        await asyncio.sleep(self.dice.uniform(0, 0.05))
        await asyncio.to_thread(self._kill, promise, both=both)
        if both:
            self.recorder.start()
        else:
            await self._ask_while_it_is_down(number)
        await load.end()
        self.seen += load.seen
        await asyncio.to_thread(self._check, load, promise)

    def _kill(self, promise: Promise, *, both: bool) -> None:
        recorder = self.recorder
        synced = Trace(recorder.trace).synced()
        status = recorder.control("status")
        promise.sequence = status["last_sequence"]
        promise.synced = synced.sequence if synced is not None else 0
        instance = ids.from_text(status["instance"])
        assert instance is not None
        self.instances.append(instance)
        assert recorder.process is not None
        if self.dice.random() < _SEALING:
            self._order_a_seal()
            time.sleep(self.dice.uniform(0, 0.03))
        if both:
            recorder.process.kill()
        os.kill(status["pid"], signal.SIGKILL)
        if both:
            recorder.wait()
            until(lambda: _is_free(recorder.port), "the end of the recorder")
            recorder.config["listen"] = f"127.0.0.1:{recorder.port}"

    def _order_a_seal(self) -> None:
        """So that the kill comes while segments are packed and replaced; nobody waits for the answer."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(self.recorder.socket))
            connection.sendall(b'{"op":"seal"}\n')

    async def _ask_while_it_is_down(self, number: int) -> None:
        orders = [Order("stream", f"r{number}a{lane}", 2, 50, 0) for lane in range(_AFTER)]
        waiting = [Seen(order, Manner(), keeps=True) for order in orders]
        await asyncio.gather(*(Call(self.recorder.port, seen).run() for seen in waiting))
        assert [seen.connected for seen in waiting] == [True] * _AFTER, "a connection was refused"
        assert [bytes(seen.body) for seen in waiting] == [events(order) for order in orders]
        self.seen += waiting

    def _check(self, load: Load, promise: Promise) -> None:
        # What came to its end by now is to be in the trace with its end, or it would look cut off.
        until(lambda: self.recorder.control("status")["active_requests"] == 0, "the end of all requests")
        self.recorder.control("append", type="tool.event", payload="{}")
        problems = inspection.errors(self.recorder.trace)
        assert problems == [], problems
        reading = inspection.read(self.recorder.trace)
        assert reading.sequences == list(range(1, len(reading.sequences) + 1))
        assert reading.sequences[-1] >= max(promise.sequence, promise.synced)
        accounts = reading.by_target()
        for target, said in promise.events.items():
            _check_prefix(accounts, target, events(_cut(target)), len(said), "response")
        for target, taken in promise.taken.items():
            sent = next(seen for seen in load.seen if seen.order.target == target)
            whole = (block(sent.manner.size - 1) + b"\n") * (sent.sent // sent.manner.size + 100)
            _check_prefix(accounts, target, whole, taken, "request")
        self.promised += sum(map(len, promise.events.values())) + sum(promise.taken.values())
        self._check_segments(reading)
        self._check_states(load, accounts)

    def _check_segments(self, reading: Reading) -> None:
        """A recorder that was started anew never goes on in the segment of another."""
        numbers = [header.number for header in reading.headers]
        assert numbers == list(range(1, len(numbers) + 1))
        order = list(dict.fromkeys(header.instance for header in reading.headers))
        assert order[: len(self.instances)] == self.instances
        assert len(order) - len(self.instances) in (0, 1)

    def _check_states(self, load: Load, accounts: dict[str, Account]) -> None:
        live = ids.from_text(self.recorder.control("status")["instance"])
        listing = recent(Trace(self.recorder.trace), Selection(), live)
        assert listing.problems == []
        states = {exchange.path: exchange.state for exchange in listing.exchanges}
        for seen in load.seen:
            account = accounts.get(seen.order.target)
            if account is not None:
                cut = not account.ends and not account.errors
                assert (states[account.target] is State.INTERRUPTED) == cut, account.target
                self.interrupted += cut
        assert State.ACTIVE not in states.values()


def _is_free(port: int) -> bool:
    """Whether nobody listens there: a killed process is gone only when the last of its threads is."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _cut(target: str) -> Order:
    """The order, as far as any client could get in a round."""
    order = Order.parse(target)
    return Order(order.kind, order.id, min(order.count, 3000), order.size, order.pause)


def _check_prefix(accounts: dict[str, Account], target: str, whole: bytes, least: int, direction: str) -> None:
    if not least:
        return
    recorded = accounts[target].body(direction)
    assert len(recorded) >= least, f"{target}: {least} bytes had passed, {len(recorded)} are recorded"
    assert whole.startswith(recorded), f"{target}: what is recorded is not what passed"


async def campaign(folder: Path, rounds: int, seed: int) -> Campaign:
    """Odd rounds kill the recorder, even ones its supervisor as well."""
    upstream = await listen()
    async with upstream:
        recorder = Recorder(
            folder / "home", default_upstream=f"http://127.0.0.1:{port_of(upstream)}", drain_seconds=0
        )
        recorder.start()
        try:
            fight = Campaign(recorder, seed)
            for number in range(1, rounds + 1):
                await fight.round(number, both=number % 2 == 0)
        finally:
            recorder.stop()
    assert inspection.errors(recorder.trace) == []
    return fight


def main() -> int:
    """Fight for as many rounds as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bb") as folder:
        fight = asyncio.run(campaign(Path(folder), asked.rounds, asked.seed))
        size = sum(path.stat().st_size for path in fight.recorder.trace.iterdir())
    told = f"{asked.rounds} kills, {len(fight.seen)} requests, {fight.interrupted} interrupted"
    sys.stdout.write(f"{told}, {fight.promised} of {size} bytes promised, and every promise was kept\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
