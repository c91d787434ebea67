"""How fast a trace on disk becomes artifacts in the memory, and how far the memory is behind agents at work.

Beside the whole write path, in the same round and on the same bytes: `json.loads` of each event or body, which
understands nothing of it, checks no record and writes nothing.
"""

import http.client
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from bench.corpus import prose
from bench.material import traces
from bench.material.talk import resent, streams
from bench.peers import ROOT, free_port
from blackbird import derive
from blackbird.exchange.exchange import Exchange
from blackbird.home import VARIABLE, Home
from blackbird.provider import Provider

ANSWERS, REQUESTS = 200, 800
AGENTS, TURNS = 8, 25
#: What a turn waits for the agent's tools, and what its history has when it begins.
_PAUSE_SECONDS = (0.2, 0.6)
_HISTORY_WORDS = 20_000
_PATIENCE_SECONDS = 120
_PROGRAM = str(Path(sys.executable).parent / "blackbird")


class Course(msgspec.Struct):
    """One kind of traffic: megabytes of its bodies a second, and what `json.loads` took in the same round."""

    text: str
    megabytes: float
    artifacts: int
    speeds: list[float]
    ratios: list[float]


class DeriveReport(msgspec.Struct):
    """Everything measured in one run; lags are in milliseconds."""

    paths: list[Course]
    lags: list[float]
    rounds: int
    machine: str


def measure(rounds: int) -> DeriveReport:
    """Derive each kind of traffic in as many rounds as asked for, and then follow agents at work."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        paths = [
            _path("streams", streams("messages", ANSWERS), Path(folder, "streams"), rounds),
            _path("requests that re-send their history", resent(REQUESTS), Path(folder, "resent"), rounds),
        ]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        lags = _lags(Path(folder))
    machine = f"{platform.python_implementation()} {platform.python_version()} on {os.cpu_count()} cores"
    return DeriveReport(paths, lags, rounds, machine)


def _path(text: str, exchanges: Iterable[Exchange], folder: Path, rounds: int) -> Course:
    _say(f"{text}, {rounds} rounds")
    home = Home(folder, folder / "config.toml")
    bodies: list[bytes] = []

    def kept(found: Iterable[Exchange]) -> Iterable[Exchange]:
        for exchange in found:
            bodies.extend((exchange.request_body.data, exchange.response_body.data))
            yield exchange

    size = sum(traces.write(kept(exchanges), home.trace)) / 1e6
    changes = derive.catch_up(home).changes
    found = Course(text, size, len(changes), [], [])
    for _ in range(rounds):
        ours = _timed(lambda: derive.rebuild(home))
        loads = _timed(lambda: _load(bodies))
        found.speeds.append(size / ours)
        found.ratios.append(loads / ours)
    return found


def _timed(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _load(bodies: list[bytes]) -> None:
    for body in bodies:
        if body.startswith(b"{"):
            json.loads(body)
            continue
        for line in body.splitlines():
            data = line.removeprefix(b"data: ")
            if data.startswith(b"{"):
                json.loads(data)


def _lags(folder: Path) -> list[float]:
    """How long after the end of each answer its words are in the memory, as a reader of `derive --follow` sees it."""
    _say(f"{AGENTS} agents at once, {TURNS} turns each")
    environment = {**os.environ, VARIABLE: str(folder), "PYTHONPATH": str(ROOT / "src")}
    port = free_port()
    with ExitStack() as stack:
        provider = stack.enter_context(Provider())

        def blackbird(*words: str) -> None:
            subprocess.run([_PROGRAM, *words], env=environment, check=True, stdout=subprocess.DEVNULL)

        blackbird("up", "--port", str(port), "--upstream-url", provider.url)
        stack.callback(blackbird, "down")
        follower = subprocess.Popen(
            [_PROGRAM, "derive", "--follow", "--json"], env=environment, stdout=subprocess.PIPE
        )
        stack.callback(follower.wait)
        stack.callback(follower.terminate)
        seen: dict[str, float] = {}
        is_ready = threading.Event()
        threading.Thread(target=_watch, args=(follower, seen, is_ready), daemon=True).start()
        is_ready.wait(_PATIENCE_SECONDS)
        ended: dict[str, float] = {}
        agents = [threading.Thread(target=_agent, args=(port, number, ended)) for number in range(AGENTS)]
        for agent in agents:
            agent.start()
        for agent in agents:
            agent.join()
        until = time.monotonic() + _PATIENCE_SECONDS
        while not ended.keys() <= seen.keys() and time.monotonic() < until:
            time.sleep(0.05)
        return [(seen[words] - at) * 1e3 for words, at in ended.items()]


def _watch(follower: "subprocess.Popen[bytes]", seen: dict[str, float], is_ready: threading.Event) -> None:
    for line in follower.stdout or ():
        is_ready.set()
        now = time.monotonic()
        for change in json.loads(line)["changes"]:
            seen.setdefault(change["title"], now)


def _agent(port: int, number: int, ended: dict[str, float]) -> None:
    """Sends its history with each turn, and reads the whole stream of each answer."""
    rng = random.Random(number)
    history: list[dict[str, object]] = [
        {"role": role, "content": prose(rng, _HISTORY_WORDS // 40)}
        for _ in range(20)
        for role in ("user", "assistant")
    ]
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for turn in range(TURNS):
        words = f"Agent {number}, turn {turn}."
        history.append({"role": "user", "content": words})
        body = {"model": "scripted-1", "max_tokens": 1000, "stream": True, "messages": history}
        path = f"/bb/agent-{number}/t1/run-{number}/v1/messages"
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        connection.getresponse().read()
        ended[words] = time.monotonic()
        history.append({"role": "assistant", "content": "Yes."})
        time.sleep(rng.uniform(*_PAUSE_SECONDS))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def as_markdown(report: DeriveReport) -> str:
    """The tables of the README."""
    lags = sorted(report.lags)
    middle, late = statistics.median(lags), lags[int(len(lags) * 0.95)]
    return "\n".join(
        [
            f"Measured with {report.machine}, of which it uses one; {report.rounds} interleaved rounds.",
            "From segments on disk to artifacts in the database: read, checked, put together, woven, built, written;",
            "× is to json.loads of the same bytes in the same round:",
            "",
            "| traffic | bodies | artifacts | median MB/s | range | × json.loads | range |",
            "|---|---|---|---|---|---|---|",
            *(
                f"| {path.text} | {path.megabytes:.0f} MB | {path.artifacts:,} "
                f"| {_spread(path.speeds, 0)} | {_spread(path.ratios, 2)} |"
                for path in report.paths
            ),
            "",
            f"While {AGENTS} agents work at once through the recorder, on the same cores, `derive --follow` has what",
            f"was said in the memory {middle:.0f} ms after the end of the answer (median of {len(lags)};",
            f"p95 {late:.0f} ms, longest {lags[-1]:.0f} ms).",
        ]
    )


def _spread(values: list[float], digits: int) -> str:
    """Two cells: the median, and the range."""
    return f"{statistics.median(values):.{digits}f} | {min(values):.{digits}f}–{max(values):.{digits}f}"
