"""How long an answer takes: of memories of a hundred thousand and a million artifacts, in process and from outside.

Searches run beside FTS5 as most use it and beside tantivy, question by question in turns, so that a slow moment of
the machine hits all alike; a loop that always does the same shows what the machine itself varies by.
"""

import json
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from bench.latency.questions import Question, questions
from bench.latency.stores import CACHE, Stores, stores
from bench.latency.world import World
from bench.peers import ROOT
from blackbird.config.load import load
from blackbird.home import VARIABLE, Home
from blackbird.recall import Recall
from blackbird.stats.figures import quantile

SIZES = (100_000, 1_000_000)
OURS, NOISE = "blackbird", "a loop that always does the same"
SCOPED, UNSCOPED = "search in a session", "search everywhere"
GET, RELATED = "get", "related"
COLD, CACHED = "pack, built", "pack, cached"
COMMAND, FIRST = "`blackbird mem search` as a command", "MCP on stdio, from start to the first answer"
#: What p95 is to stay below, in milliseconds.
LIMITS = {SCOPED: 20, UNSCOPED: 100, GET: 5, COLD: 200, CACHED: 10, COMMAND: 250, FIRST: 300}
_K = 8
_QUESTIONS_A_ROUND = 60
_STARTS_A_ROUND = 5
_PROGRAM = str(Path(sys.executable).parent / "blackbird")
#: Milliseconds on the wall and of the processor.
Samples = dict[tuple[str, str], list[tuple[float, float]]]


class Row(msgspec.Struct):
    """One operation by one contender, in milliseconds; `cpu` is what the processor had to do for it."""

    operation: str
    contender: str
    count: int
    p50: float
    p95: float
    longest: float
    cpu_p50: float
    cpu_p95: float


class Course(msgspec.Struct):
    """One size of memory: what was measured of it, how long it took to write and what it takes on the disk."""

    artifacts: int
    rows: list[Row]
    seconds: dict[str, float]
    bytes: dict[str, int]


class LatencyReport(msgspec.Struct):
    """Everything measured in one run."""

    courses: list[Course]
    rounds: int
    machine: str
    missing: list[str]


def measure(
    rounds: int,
    sizes: tuple[int, ...] = SIZES,
    *,
    cache: Path = CACHE,
    asked: int = _QUESTIONS_A_ROUND,
    started: int = _STARTS_A_ROUND,
) -> LatencyReport:
    """Ask memories of each size, in as many rounds as asked for; each asks and starts so many times."""
    world = World()
    courses, missing = [], []
    for size in sizes:
        found = stores(world, size, cache)
        samples: Samples = {}
        chosen = questions(world, size, rounds * asked)
        _inside(found, chosen, samples)
        _outside(found.home, chosen, rounds * started, samples)
        courses.append(Course(size, _rows(samples), found.made.seconds, found.made.bytes))
        missing = ["tantivy"] if found.tantivy is None else []
    machine = f"{platform.python_implementation()} {platform.python_version()} on {os.cpu_count()} cores"
    return LatencyReport(courses, rounds, machine, missing)


def _inside(found: Stores, asked: list[Question], samples: Samples) -> None:
    """All that is asked in one process, as a server or a harness asks it."""
    shutil.rmtree(found.home.derived / "packs", ignore_errors=True)
    found.home.usage.unlink(missing_ok=True)
    with Recall(found.home, load(found.home, variables={}), door="bench") as recall:
        # What is loaded once, and the pages of the file that everybody needs, are no part of an answer.
        for question in asked[:3]:
            _ask(found, recall, question, {})
            recall.context(session=question.session, task=question.task, budget=900)
        for at, question in enumerate(asked):
            _ask(found, recall, question, samples)
            _pack(recall, question, samples)
            if at % 50 == 0:
                _say(f"{found.made.artifacts:,} artifacts, question {at} of {len(asked)}")


def _ask(found: Stores, recall: Recall, question: Question, samples: Samples) -> None:
    contenders: list[tuple[str, Callable[[str, str | None], object]]] = [
        (OURS, lambda text, session: recall.search(text, session=session, k=_K, everywhere=session is None)),
        ("plain FTS5", lambda text, session: found.plain.search(text, session, _K)),
    ]
    if found.tantivy is not None:
        tantivy = found.tantivy
        contenders.append(("tantivy", lambda text, session: tantivy.search(text, session, _K)))
    random.Random(question.id).shuffle(contenders)
    for operation, session in ((SCOPED, question.session), (UNSCOPED, None)):
        for name, search in contenders:
            _timed(samples, operation, name, partial(search, question.text, session))
    _timed(samples, GET, OURS, lambda: recall.get(question.id))
    _timed(samples, RELATED, OURS, lambda: recall.related(question.id, _K))
    _timed(samples, NOISE, NOISE, lambda: sum(range(40_000)))


def _pack(recall: Recall, question: Question, samples: Samples) -> None:
    """A pack for a task that none was built for yet, and the same once more."""

    def build() -> object:
        return recall.context(session=question.session, task=question.task, description=question.text)

    _timed(samples, COLD, OURS, build)
    _timed(samples, CACHED, OURS, build)


def _outside(home: Home, asked: list[Question], count: int, samples: Samples) -> None:
    """Processes that are started for one question: the command, and a server for an agent's first turn."""
    environment = {**os.environ, VARIABLE: str(home.path), "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    for at, question in enumerate(asked[: count + 1]):
        own: Samples = samples if at else {}  # the first loads what a machine that just started has not read yet
        words = ["mem", "search", question.text, "--session", question.session]
        _timed(own, COMMAND, OURS, partial(_run, words, environment))
        _timed(own, FIRST, OURS, partial(_first_answer, question, environment))


def _run(words: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run([_PROGRAM, *words], env=environment, capture_output=True, check=False, cwd=ROOT)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()[-500:]}")


def _first_answer(question: Question, environment: dict[str, str]) -> None:
    """Everything that a client sends until a tool has answered, written at once as some clients do."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    arguments = {"query": question.text, "session": question.session}
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": {"name": "memory_search", "arguments": arguments}},
    ]
    sent = b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)
    command = [sys.executable, "-m", "blackbird.doors.stdio"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        if server.stdin is None or server.stdout is None:
            raise RuntimeError("it was started with pipes")
        server.stdin.write(sent)
        server.stdin.flush()
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == 1:
                if answer.get("result", {}).get("isError", True):
                    raise RuntimeError(f"the server answered {line.decode()[:500]}")
                break
        else:
            raise RuntimeError("the server ended without an answer")
        # The time of an answer ends with it: what the process does to end is not waited for.
        server.kill()


def _timed(samples: Samples, operation: str, contender: str, run: Callable[[], object]) -> None:
    began, used = time.perf_counter(), _processor()
    run()
    taken = (time.perf_counter() - began) * 1e3, (_processor() - used) * 1e3
    samples.setdefault((operation, contender), []).append(taken)


def _processor() -> float:
    """Seconds of this process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _rows(samples: Samples) -> list[Row]:
    return [_row(*name, samples[name]) for name in sorted(samples, key=_order)]


def _row(operation: str, contender: str, taken: list[tuple[float, float]]) -> Row:
    wall, cpu = [each[0] for each in taken], [each[1] for each in taken]
    found = (quantile(wall, 0.5), quantile(wall, 0.95), max(wall), quantile(cpu, 0.5), quantile(cpu, 0.95))
    return Row(operation, contender, len(taken), *found)


def _order(name: tuple[str, str]) -> tuple[int, str]:
    operation, contender = name
    order = [SCOPED, UNSCOPED, GET, RELATED, COLD, CACHED, COMMAND, FIRST, NOISE]
    return order.index(operation), contender


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr)


def as_markdown(report: LatencyReport) -> str:
    """The tables of the README."""
    lines = [
        f"Measured with {report.machine}, {report.rounds} rounds of {_QUESTIONS_A_ROUND} questions, all in turns;",
        "milliseconds. Plain FTS5 is one table with its own tokenizer, words joined by OR, a join for the session.",
    ]
    for course in report.courses:
        lines += ["", f"{course.artifacts:,} artifacts ({_written(course)}):", ""]
        lines += ["| what | by | p50 | p95 | longest | CPU p50 | CPU p95 | p95 to stay below |"]
        lines += ["|---|---|---:|---:|---:|---:|---:|---:|"]
        for row in course.rows:
            limit = LIMITS.get(row.operation) if row.contender == OURS else None
            by = row.contender if row.contender != NOISE else ""
            figures = (row.p50, row.p95, row.longest, row.cpu_p50, row.cpu_p95)
            times = " | ".join(f"{figure:.1f}" for figure in figures)
            lines.append(f"| {row.operation} | {by} | {times} | {limit or ''} |")
    if report.missing:
        lines += ["", f"Not installed, so not measured: {', '.join(report.missing)}."]
    return "\n".join(lines)


def _written(course: Course) -> str:
    parts = [
        f"{name} {size / 1e6:,.0f} MB, written in {course.seconds[name]:,.0f} s"
        for name, size in course.bytes.items()
    ]
    return "; ".join(parts)
