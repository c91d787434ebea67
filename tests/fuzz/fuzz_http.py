"""Feeds a living recorder with bytes that are nearly HTTP/1, from both sides.

python tests/fuzz/fuzz_http.py --seconds 300 --seed 7
python tests/fuzz/fuzz_http.py --runs 300

Chance with a seed, and no coverage to guide it: what is tested runs in another process. It must not die or hang. What
it forwards must be for a strict parser (h11) what it recorded, request by request, or something was smuggled. What it
passes back must be what came.
"""

import argparse
import asyncio
import contextlib
import hashlib
import hmac
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import h11

from tests.fuzz.http_cases import REQUESTS, RESPONSES, case, pieces
from tests.recorder.harness import Recorder, until
from tests.soak import inspection
from tests.soak.inspection import Account

_AT_ONCE = 16
_BATCH = 64
#: How long nothing must come before a client believes that nothing will.
_IDLE = 0.05
_LONG_IDLE = 0.4
#: How long a whole case may take.
_PATIENCE = 20.0
_LARGEST_HEAD = 1 << 20
_ANSWER = b"ok"

#: A request as either side knows it: method, target, and the fingerprint of its body if all of it came.
Known = tuple[str, str, str | None]


@dataclass
class Upstream:
    """Parses strictly, answers what it understands, and says what it has understood."""

    key: bytes = b""
    understood: list[Known] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    #: What to send in place of an answer, by target; what was asked for does not matter then.
    raw: dict[bytes, list[bytes]] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            if self.raw:
                await self._send_raw(reader, writer)
            else:
                await self._converse(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def _send_raw(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        for piece in self.raw[head.split(b" ")[1]]:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGEST_HEAD)
        try:
            while await self._one(connection, reader, writer):
                connection.start_next_cycle()
        except h11.RemoteProtocolError as error:
            self.refused.append(str(error))
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()

    async def _one(
        self, connection: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """One request and its answer; whether another may follow."""
        request, body = None, b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(1 << 16))
            elif isinstance(event, h11.Request):
                request = (event.method.decode(), _text(event.target))
                self.understood.append((*request, None))
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and request is not None:
                self.understood[self.understood.index((*request, None))] = (*request, fingerprint(self.key, body))
                break
            else:
                return False
        answer = h11.Response(status_code=200, headers=[("Content-Length", str(len(_ANSWER)))])
        body = b"" if request[0] == "HEAD" else _ANSWER
        for said in (answer, h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(said) or b"")
        await writer.drain()
        return connection.our_state is h11.DONE and connection.their_state is h11.DONE


def fingerprint(key: bytes, body: bytes) -> str:
    return hmac.new(key, body, hashlib.sha256).hexdigest()


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


async def send(port: int, parts: Iterable[bytes], idle: float, *, to_the_end: bool = False) -> bytes:
    """Send a case; take what comes until nothing does, or until the end. Raises `TimeoutError` if there is none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    got = b""
    try:
        with contextlib.suppress(ConnectionError):
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0)
            while piece := await asyncio.wait_for(reader.read(1 << 16), _PATIENCE if to_the_end else idle):
                got += piece
    except TimeoutError:
        if to_the_end:
            raise
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    return got


class Fuzzer:
    """A recorder under fire."""

    def __init__(self, recorder: Recorder, upstream: Upstream, seed: int) -> None:
        self.recorder = recorder
        self.upstream = upstream
        self.seed = seed
        self.segment = 0
        self.tally: Counter[str] = Counter()
        self.problems: list[str] = []
        self.upstream.key = (recorder.home / "hmac.key").read_bytes()
        self.pid = recorder.control("status")["pid"]

    def dice(self, side: str, number: int) -> random.Random:
        return random.Random(f"{self.seed}/{side}/{number}")  # noqa: S311 - chance, not secrecy

    async def requests(self, numbers: range) -> None:
        """Cases from the client's side."""
        wrong = await self._try_requests(numbers, _IDLE)
        if wrong:
            found = [problem for number in numbers for problem in await self._alone(number)]
            self.tally["differences that did not come again"] += not found
            self.problems += found

    async def _alone(self, number: int) -> list[str]:
        wrong = await self._try_requests(range(number, number + 1), _LONG_IDLE)
        return [f"request case {number} {self._request(number)!r}: {problem}" for problem in wrong]

    def _request(self, number: int) -> list[bytes]:
        dice = self.dice("request", number)
        return pieces(dice, case(dice, REQUESTS))

    async def _try_requests(self, numbers: range, idle: float) -> list[str]:
        self.upstream.understood.clear()
        self.upstream.refused.clear()
        few = asyncio.Semaphore(_AT_ONCE)

        async def one(number: int) -> None:
            async with few:
                await send(self.recorder.port, self._request(number), idle)

        await asyncio.gather(*(one(number) for number in numbers))
        accounts = await asyncio.to_thread(self._accounts)
        self.tally["requests"] += len(accounts)
        recorded = Counter(known for account in accounts for known in _forwarded(account))
        understood = Counter(self.upstream.understood)
        self.tally["forwarded"] += recorded.total()
        # What broke off in its own body may have been given up before any of it was sent. A target that is no ASCII
        # is for the upstream to refuse, as it would without us.
        missed = [
            known for known in (recorded - understood).elements() if known[2] is not None and known[1].isascii()
        ]
        problems = [f"recorded and not understood upstream: {known}" for known in missed]
        problems += [f"understood upstream and not recorded: {known}" for known in (understood - recorded).elements()]
        return [f"{problem} {self.upstream.refused}" for problem in problems] + self._health(accounts)

    def _accounts(self) -> list[Account]:
        """What was recorded since the last time, once all of it is."""
        until(lambda: self.recorder.control("status")["active_requests"] == 0, "the end of all requests")
        self.recorder.control("append", type="tool.event", payload="{}")
        self.recorder.control("rotate")
        reading = inspection.read(self.recorder.trace, after=self.segment)
        self.segment = max(header.number for header in reading.headers)
        return list(reading.accounts.values())

    def _health(self, accounts: list[Account]) -> list[str]:
        status = self.recorder.control("status")
        found = [] if (status["restarts"], status["pid"]) == (0, self.pid) else ["the recorder died"]
        uneven = [
            account for account in accounts if len(account.starts) != 1 or len(account.ends + account.errors) != 1
        ]
        return found + [f"not one start and one end: {account}" for account in uneven]

    async def responses(self, numbers: range) -> None:
        """Cases from the upstream's side."""
        cases = {}
        for number in numbers:
            dice = self.dice("response", number)
            cases[b"/case/%d" % number] = pieces(dice, case(dice, RESPONSES))
        self.upstream.raw = cases
        few = asyncio.Semaphore(_AT_ONCE)

        async def one(target: bytes) -> tuple[str, bytes]:
            async with few:
                request = b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % target
                return target.decode(), await send(self.recorder.port, [request], _IDLE, to_the_end=True)

        got = dict(await asyncio.gather(*(one(target) for target in cases)))
        self.upstream.raw = {}
        accounts = await asyncio.to_thread(self._accounts)
        self.problems += self._health(accounts)
        found = {account.target: account for account in accounts}
        for target, parts in cases.items():
            sent = b"".join(parts)
            self.tally["responses"] += 1
            wrong = self._compare(sent, got[target.decode()], found.get(target.decode()))
            if wrong:
                self.problems.append(f"response case {target.decode()} {sent!r}: {wrong}")

    def _compare(self, sent: bytes, got: bytes, account: Account | None) -> str | None:
        """What is wrong with a response that passed."""
        if account is None:
            return "not recorded"
        if b"connection" not in sent.lower() and not sent.startswith(got):
            return f"changed on its way: {got!r}"
        expected, passed = understand(sent), understand(got)
        if expected is None:
            self.tally["responses that h11 refuses"] += 1
            return None
        if passed != expected:
            return f"means {expected!r}, and what passed means {passed!r}"
        if account.ends and account.over["response"]["hmac"] != fingerprint(self.upstream.key, expected[1]):
            return f"has the body {expected[1]!r}, and another is recorded"
        if account.errors and account.over["code"] not in ("bad_response", "client_reset", "client_disconnected"):
            return f"is whole, and recorded as {account.over['code']}"
        return None


def _forwarded(account: Account) -> Iterable[Known]:
    """The request, if it was forwarded; without a fingerprint if not all of it was."""
    over, start = account.over, account.starts[0]
    if over["timings"]["connected"] is not None:
        about = over["request"]
        yield start["method"], start["target"], about["hmac"] if about["complete"] else None


def understand(data: bytes) -> tuple[int, bytes] | None:
    """Status and body of the answer to a GET, if a strict parser finds one that is whole."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LARGEST_HEAD)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "localhost")]))
    connection.send(h11.EndOfMessage())
    status, body = 0, b""
    try:
        connection.receive_data(data)
        connection.receive_data(b"")
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                return status, body
            elif not isinstance(event, h11.InformationalResponse):
                return None
    except h11.RemoteProtocolError:
        return None


async def fuzz(folder: Path, seed: int, runs: int, seconds: float) -> Fuzzer:
    """Batches from both sides in turn, until there were enough or time is up."""
    upstream = Upstream()
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, backlog=256)
    async with server:
        port = server.sockets[0].getsockname()[1]
        recorder = Recorder(folder / "home", default_upstream=f"http://127.0.0.1:{port}", trace={"seal": False})
        with recorder:
            fuzzer = Fuzzer(recorder, upstream, seed)
            end = time.monotonic() + seconds
            for first in range(0, runs, _BATCH):
                numbers = range(first, min(first + _BATCH, runs))
                await fuzzer.requests(numbers)
                await fuzzer.responses(numbers)
                if time.monotonic() > end:
                    break
    return fuzzer


def main() -> int:
    """Fuzz, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1 << 40, help="cases from each side")
    parser.add_argument("--seconds", type=float, default=600, help="how long at most")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bb") as folder:
        fuzzer = asyncio.run(fuzz(Path(folder), asked.seed, asked.runs, asked.seconds))
    counts = ", ".join(f"{count} {what}" for what, count in sorted(fuzzer.tally.items()))
    sys.stdout.write("\n".join([*fuzzer.problems[:100], f"{counts}; {len(fuzzer.problems)} problems"]) + "\n")
    return 1 if fuzzer.problems else 0


if __name__ == "__main__":
    sys.exit(main())
