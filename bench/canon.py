"""How fast traffic becomes a timeline: streams of small deltas, and requests that re-send their history.

Beside ours, in the same round and on the same bytes: the official SDK of each protocol, which puts the same stream
together for its caller, and `json.loads` of every event or body, which understands nothing of it.
"""

import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import anthropic
import msgspec
import openai

from bench.material.talk import WINDOW, Reader, redaction, resent, streams
from bench.peers import ROOT
from blackbird.exchange.exchange import Exchange

#: Answers of each protocol, and requests of one session.
ANSWERS = 20
REQUESTS = (2_500, 5_000, 10_000)
OURS, LOADS, SDK = "blackbird", "json.loads of each event", "the official SDK"
_TITLES = {
    "messages": "Anthropic Messages",
    "chat": "Chat Completions",
    "responses": "OpenAI Responses",
    "gemini": "Gemini",
    "ollama": "Ollama",
}
#: The HTTP library that both SDKs bring.
_HTTP: Any = importlib.import_module(anthropic.DefaultHttpxClient.__mro__[1].__module__)


class Race(msgspec.Struct):
    """One contender: megabytes a second, and how many times as fast as `json.loads` in the same round."""

    text: str
    name: str
    speeds: list[float]
    ratios: list[float]


class Stretch(msgspec.Struct):
    """A session so far: its requests, what they sent, what of it was new, and what it took."""

    requests: int
    sent: int
    new: int
    ours: list[float]
    loads: list[float]
    peak_rss_mb: float = 0.0


class CanonReport(msgspec.Struct):
    """Everything measured in one run."""

    streams: list[Race]
    resent: list[Stretch]
    idle_rss_mb: float
    largest: int
    rounds: int
    machine: str


def measure(rounds: int) -> CanonReport:
    """Measure streams in as many rounds as asked for, and long sessions in up to three."""
    found = [race for dialect in _TITLES for race in _race(dialect, rounds)]
    stretches, largest = _sessions(min(rounds, 3))
    idle, *peaks = _peaks([1, *REQUESTS])
    for stretch, peak in zip(stretches, peaks, strict=True):
        stretch.peak_rss_mb = peak
    machine = f"{platform.python_implementation()} {platform.python_version()} on {os.cpu_count()} cores"
    return CanonReport(found, stretches, idle, largest, rounds, machine)


def _race(dialect: str, rounds: int) -> list[Race]:
    _say(f"streams of {_TITLES[dialect]}, {rounds} rounds")
    exchanges, redact = streams(dialect, ANSWERS), redaction()
    bodies = [exchange.response_body.data for exchange in exchanges]
    contenders: dict[str, Callable[[], object]] = {
        LOADS: lambda: _load_events(bodies),
        OURS: lambda: _weave(exchanges, redact),
    }
    if dialect in _SDKS:
        contenders[SDK] = lambda: [_SDKS[dialect](body) for body in bodies[:3]]
    sizes = {name: sum(map(len, bodies[:3] if name == SDK else bodies)) for name in contenders}
    speeds: dict[str, list[float]] = {name: [] for name in contenders}
    _weave(exchanges[:1], redact)
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.process_time()
            run()
            speeds[name].append(sizes[name] / 1e6 / (time.process_time() - start))
    return [
        Race(_TITLES[dialect], name, taken, [a / b for a, b in zip(taken, speeds[LOADS], strict=True)])
        for name, taken in speeds.items()
    ]


def _weave(exchanges: list[Exchange], redact: Callable[[str], str]) -> None:
    reader = Reader(redact)
    for exchange in exchanges:
        assert reader.take(exchange) >= 2


def _load_events(bodies: list[bytes]) -> None:
    for body in bodies:
        for line in body.splitlines():
            data = line.removeprefix(b"data: ")
            if data.startswith(b"{"):
                json.loads(data)


def _messages(body: bytes) -> object:
    client = anthropic.Anthropic(api_key="none", http_client=anthropic.DefaultHttpxClient(transport=_answering(body)))
    with client.messages.stream(model="m", max_tokens=1, messages=[{"role": "user", "content": "?"}]) as stream:
        return stream.get_final_message()


def _openai(body: bytes) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", http_client=openai.DefaultHttpxClient(transport=_answering(body)))


def _chat(body: bytes) -> object:
    with _openai(body).chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as stream:
        return stream.get_final_completion()


def _responses(body: bytes) -> object:
    with _openai(body).responses.stream(model="m", input="?") as stream:
        return stream.get_final_response()


def _answering(body: bytes) -> Any:
    """A transport that answers at once, without a network."""
    headers = {"content-type": "text/event-stream"}
    return _HTTP.MockTransport(lambda _: _HTTP.Response(200, headers=headers, content=body))


_SDKS: dict[str, Callable[[bytes], object]] = {"messages": _messages, "chat": _chat, "responses": _responses}


def _sessions(rounds: int) -> tuple[list[Stretch], int]:
    """The same long session in each round, ours and `json.loads` by turns on each of its requests."""
    redact = redaction()
    stretches = [Stretch(count, 0, 0, [], []) for count in REQUESTS]
    largest = 0
    for number in range(rounds):
        _say(f"{REQUESTS[-1]} requests with their histories, round {number + 1} of {rounds}")
        reader = Reader(redact)
        ours = loads = 0.0
        sent = new = before = 0
        for at, exchange in enumerate(resent(REQUESTS[-1]), 1):
            body = exchange.request_body.data
            sent, largest = sent + len(body), max(largest, len(body))
            new += max(len(body) - before, 0) + len(exchange.response_body.data)
            before = len(body)
            start = time.process_time()
            reader.take(exchange)
            between = time.process_time()
            json.loads(body)
            ours, loads = ours + between - start, loads + time.process_time() - between
            for stretch in stretches:
                if stretch.requests == at:
                    stretch.sent, stretch.new = sent, new
                    stretch.ours.append(ours)
                    stretch.loads.append(loads)
    return stretches, largest


def _peaks(counts: list[int]) -> list[float]:
    """The peak memory of processes that weave so many requests, in megabytes."""
    _say("memory of processes that do the same")
    program = "from bench.material.talk import weigh; weigh({})"
    commands = [[sys.executable, "-c", program.format(count)] for count in counts]
    started = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for command in commands]
    return [float(process.communicate()[0]) for process in started]


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def as_markdown(report: CanonReport) -> str:
    """The tables of the README."""
    lines = [
        f"Measured with {report.machine}, of which it uses one. Streams of deltas of 24 characters (thoughts, text,",
        f"arguments of calls), {report.rounds} interleaved rounds; × is to json.loads in the same round:",
        "",
        "| stream | reader | median MB/s | range | × json.loads | range |",
        "|---|---|---|---|---|---|",
        *(
            f"| {race.text} | {race.name} | {_spread(race.speeds, 1)} | {_spread(race.ratios, 2)} |"
            for race in report.streams
        ),
        "",
        f"One session of requests that re-send their history, up to {report.largest / 1e3:.0f} kB each and compacted",
        f"every {WINDOW} turns; read, woven and let go, {len(report.resent[0].ours)} rounds. New is what a request",
        "has more than the one before it, and the answer:",
        "",
        "| requests | sent | new | MB/s sent | range | × json.loads | range | ms per new kB | peak RSS |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_stretch(stretch) for stretch in report.resent),
        "",
        f"A process that has read one request has {report.idle_rss_mb:.0f} MB. Of a session, digests and ids stay in",
        "memory, and no text. The SDKs hand out each event on the way, which a timeline has no need of.",
    ]
    return "\n".join(lines)


def _stretch(stretch: Stretch) -> str:
    speeds = [stretch.sent / 1e6 / seconds for seconds in stretch.ours]
    ratios = [theirs / ours for ours, theirs in zip(stretch.ours, stretch.loads, strict=True)]
    per_new = statistics.median(stretch.ours) * 1e3 / (stretch.new / 1e3)
    return (
        f"| {stretch.requests:,} | {stretch.sent / 1e6:,.0f} MB | {stretch.new / 1e6:.1f} MB | {_spread(speeds, 0)} "
        f"| {_spread(ratios, 2)} | {per_new:.2f} | {stretch.peak_rss_mb:.0f} MB |"
    )


def _spread(values: list[float], digits: int) -> str:
    """Two cells: the median, and the range."""
    return f"{statistics.median(values):.{digits}f} | {min(values):.{digits}f}–{max(values):.{digits}f}"
