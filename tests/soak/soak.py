"""Many streams for minutes, through everything that can go wrong on the way; at the end the books must balance.

python -m tests.soak.soak --minutes 3 --streams 256
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.recorder.harness import Recorder, until
from tests.soak import inspection
from tests.soak.client import Call, Manner, Seen
from tests.soak.inspection import Account
from tests.soak.upstream import Order, events

#: What the recorder may take; its queue and its decoders may have 64 MiB of it.
MOST_MEMORY = 150 << 20
_GIANT = 100
_MEBIBYTE = 1 << 20
_METRICS = b"GET /_blackbird/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_PATIENCE_SECONDS = 10.0

Dice = random.Random
Pick = Callable[[Dice, str], tuple[Order, Manner]]


def _stream(dice: Dice, name: str, manner: Manner | None = None) -> tuple[Order, Manner]:
    order = Order("stream", name, dice.randint(10, 100), dice.choice((20, 200, 1000)), dice.randint(5, 60))
    return order, manner or Manner()


def _leaving(how: str) -> Pick:
    return lambda dice, name: _stream(dice, name, Manner(leaves=how, after=dice.randint(1, 3000)))


def _upload(dice: Dice, name: str, *, abandons: bool = False) -> tuple[Order, Manner]:
    size = dice.choice((200, 4000, 32_000))
    manner = Manner(pieces=dice.randint(2, 60), size=size, pause=5, chunked=dice.random() < 0.5, abandons=abandons)
    return Order("take", name, 0, 0, 0), manner


def _kind(kind: str, manner: Manner | None = None) -> Pick:
    return lambda dice, name: (Order(kind, name, dice.randint(5, 60), 200, dice.randint(0, 40)), manner or Manner())


def _plain(kind: str, manner: Manner | None = None) -> Pick:
    return lambda dice, name: (Order(kind, name, dice.randint(1, 12), 60_000, 2), manner or Manner())


#: What a client may do, and how often beside the others.
MIX: dict[Pick, int] = {
    _stream: 30,
    lambda dice, name: _stream(dice, name, Manner(slow=True)): 8,
    _leaving("close"): 6,
    _leaving("reset"): 4,
    _leaving("half"): 3,
    _kind("packed"): 10,
    _plain("plain"): 10,
    _plain("plain", Manner(slow=True)): 2,
    _plain("unframed"): 4,
    _upload: 10,
    lambda dice, name: _upload(dice, name, abandons=True): 3,
    _kind("early", Manner(pieces=20, size=8000)): 2,
    _kind("cut"): 3,
    _kind("reset"): 3,
    _kind("garbage"): 2,
    _kind("badgzip"): 2,
    _kind("stall", Manner(leaves="close", after=1)): 2,
}


@dataclass
class Books:
    """What was seen from outside."""

    seen: list[Seen] = field(default_factory=list)
    #: Bytes of memory that the recorder had in use, looked at again and again.
    memory: list[int] = field(default_factory=list)
    files: tuple[int, int] = (0, 0)
    restarts: int = 0


def _memory(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _settled_files(pid: int, before: int) -> int:
    """How many files stay open: connections that clients dropped are closed a moment later."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while (found := _files(pid)) > before and time.monotonic() < end:
        time.sleep(0.1)
    return found


class Soak:
    """Load for a while."""

    def __init__(self, recorder: Recorder, seconds: float, streams: int, seed: int) -> None:
        self.recorder = recorder
        self.end = time.monotonic() + seconds
        self.streams = streams
        self.seed = seed
        self.books = Books()

    async def run(self, *, giants: int) -> Books:
        pid = self.recorder.control("status")["pid"]
        # The first record opens a segment.
        await asyncio.to_thread(self.recorder.control, "append", type="tool.event", payload="{}")
        before = _files(pid)
        watch = asyncio.create_task(self._watch(pid))
        lanes = [self._lane(number) for number in range(self.streams)]
        await asyncio.gather(*lanes, *(self._giant(number) for number in range(giants)))
        watch.cancel()
        status = await asyncio.to_thread(self._settle)
        self.books.memory.append(_memory(pid))
        self.books.files = before, await asyncio.to_thread(_settled_files, pid, before)
        self.books.restarts = status
        return self.books

    async def _watch(self, pid: int) -> None:
        while True:
            self.books.memory.append(_memory(pid))
            await asyncio.sleep(0.2)

    async def _lane(self, lane: int) -> None:
        dice = Dice(self.seed * 1000 + lane)
        picks = itertools.count()
        while time.monotonic() < self.end:
            pick = dice.choices(list(MIX), list(MIX.values()))[0]
            order, manner = pick(dice, f"l{lane}n{next(picks)}")
            await self._call(Seen(order, manner, keeps=order.kind == "packed"))

    async def _giant(self, number: int) -> None:
        """A hundred megabytes down, then up."""
        await self._call(Seen(Order("plain", f"g{number}", _GIANT, _MEBIBYTE, 0), Manner()))
        await self._call(Seen(Order("take", f"g{number}", 0, 0, 0), Manner(pieces=_GIANT, size=_MEBIBYTE)))

    async def _call(self, seen: Seen) -> None:
        self.books.seen.append(seen)
        await Call(self.recorder.port, seen).run()

    def _settle(self) -> int:
        until(lambda: self.recorder.control("status")["active_requests"] == 0, "the end of all requests")
        # Whoever was cut off lingers for two seconds; the one connection is ours.
        until(lambda: b"\nblackbird_connections_open 1\n" in self.recorder.ask(_METRICS).body, "the last connection")
        self.recorder.control("append", type="tool.event", payload="{}")
        return int(self.recorder.control("status")["restarts"])


def problems_of(books: Books, accounts: dict[str, Account]) -> list[str]:
    """What does not balance."""
    found = []
    for seen in books.seen:
        account = accounts.get(seen.order.target)
        if account is None:
            found.append(f"{seen.order.target}: not recorded")
            continue
        if (len(account.starts), len(account.ends) + len(account.errors)) != (1, 1):
            found.append(
                f"{account.target}: {len(account.starts)} starts, {len(account.ends)}+{len(account.errors)} ends"
            )
        elif seen.complete:
            found += _imbalance(seen, account)
    if len(accounts) != len(books.seen):
        found.append(f"{len(books.seen)} requests were made, {len(accounts)} are recorded")
    return found


def _imbalance(seen: Seen, account: Account) -> Iterator[str]:
    """What the client counted against what is recorded."""
    over, target = account.over, account.target
    if account.errors:
        yield f"{target}: came to its end, and is recorded as {over['code']}"
    response = over["response"]
    if (response["wire"], response["complete"]) != (seen.got, True):
        yield f"{target}: {seen.got} bytes came, and the record says {response['wire']}, {response['complete']}"
    if seen.status == 200 and over["request"]["wire"] != seen.sent:
        yield f"{target}: {seen.sent} bytes went, and the record says {over['request']['wire']}"
    for direction in ("request", "response"):
        wire = len(events(seen.order)) if (seen.order.kind, direction) == ("packed", "response") else None
        wire = over[direction]["wire"] if wire is None else wire
        if seen.order.kind != "badgzip" and (account.stored[direction] != wire or account.gaps):
            yield f"{target}: {account.stored[direction]} of {wire} bytes of the {direction}, gaps {account.gaps}"


@contextlib.contextmanager
def upstream_process() -> Iterator[int]:
    """The upstream as a process of its own; its port."""
    command = [sys.executable, "-m", "tests.soak.upstream"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).resolve().parents[2]) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def soak(folder: Path, seconds: float, streams: int, *, giants: int = 0, seed: int = 1) -> tuple[Books, list[str]]:
    """Run it all; what was seen, and what is wrong."""
    with upstream_process() as port:
        recorder = Recorder(folder / "home", default_upstream=f"http://127.0.0.1:{port}")
        with recorder:
            books = asyncio.run(Soak(recorder, seconds, streams, seed).run(giants=giants))
    reading = inspection.read(recorder.trace, bodies=False)
    problems = problems_of(books, reading.by_target()) + inspection.errors(recorder.trace)
    if max(books.memory) > MOST_MEMORY:
        problems.append(f"the recorder had {max(books.memory)} bytes of memory in use")
    if books.files[1] > books.files[0]:
        problems.append(f"{books.files[1]} files are open, and {books.files[0]} were before")
    if books.restarts:
        problems.append(f"the recorder died {books.restarts} times")
    return books, problems


def main() -> int:
    """Soak, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--streams", type=int, default=256)
    parser.add_argument("--giants", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bb") as folder:
        books, problems = soak(Path(folder), asked.minutes * 60, asked.streams, giants=asked.giants, seed=asked.seed)
    outcomes = Counter((seen.order.kind, "whole" if seen.complete else "broken") for seen in books.seen)
    passed = sum(seen.got + seen.sent for seen in books.seen)
    lines = [
        f"{len(books.seen)} requests, {passed} bytes of bodies",
        *(f"  {kind} {outcome}: {count}" for (kind, outcome), count in sorted(outcomes.items())),
        f"memory: most {max(books.memory)}, at the end {books.memory[-1]} bytes; files {books.files}",
        *(f"PROBLEM {problem}" for problem in problems[:50]),
        f"{len(problems)} problems",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
