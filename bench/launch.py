"""What `blackbird run` costs: until the agent's first instruction, and over a whole job, beside a direct start.

The clock is the machine's monotonic one, read by the parent before it starts anything and by the child first thing.
All ways take turns within a round, and each is shown with its spread.
"""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from bench.peers import ALL, PEERS, ROOT, free_port, install
from blackbird.provider import Provider

DIRECT = "direct"
_SECONDS = 60
_PROBE = "#!{python} -IS\nimport os, time\nopen(os.environ['PROBE_OUT'], 'w').write(str(time.monotonic_ns()))\n"
_JOB = """#!{python} -I
import os, tempfile
from pathlib import Path
from blackbird.demo.agent import Agent
from blackbird.demo.workshop import Workshop
with tempfile.TemporaryDirectory() as folder:
    workshop = Workshop(Path(folder))
    workshop.furnish()
    words = Agent(os.environ["ANTHROPIC_BASE_URL"], workshop, lambda line: None).work("Mend calc.py.")
raise SystemExit("passes" not in words)
"""


class Row(msgspec.Struct):
    """One way of starting: the median of the rounds in milliseconds, the least and the most, and what it adds."""

    what: str
    way: str
    median_ms: float
    least_ms: float
    most_ms: float
    added_ms: float


class LaunchReport(msgspec.Struct):
    """Everything measured in one run."""

    rows: list[Row]
    rounds: int
    machine: str
    missing: list[str]


def measure(rounds: int) -> LaunchReport:
    """Start probes and jobs in every way, in turns."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        provider = stack.enter_context(Provider())
        bench = _Bench(folder, provider.url)
        stack.callback(bench.down)
        bench.up()
        samples: dict[tuple[str, str], list[float]] = {}
        for number in range(rounds + 1):
            for (what, way), sample in bench.ways().items():
                taken = sample() / 1e6
                # The first round warms caches and counts for nothing.
                if number:
                    samples.setdefault((what, way), []).append(taken)
                    print(f"bench: round {number}, {what}, {way}: {taken:.0f} ms", file=sys.stderr)
    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    return LaunchReport(_rows(samples), rounds, machine, bench.missing)


class _Bench:
    """A recorder and two small programs, in a folder of their own."""

    def __init__(self, folder: Path, provider_url: str) -> None:
        self._folder = folder
        self._url = provider_url
        self._out = folder / "first"
        self.missing: list[str] = []
        self._programs = folder / "bin"
        self._programs.mkdir()
        # The peer starts clients by their names alone.
        self._probe = self._write("claude", _PROBE)
        self._job = self._write("job", _JOB)
        self._peer = next(peer for peer in ALL if peer.name == "claude-tap")
        if not install(self._peer):
            self.missing.append(self._peer.name)

    def _write(self, name: str, text: str) -> str:
        path = self._programs / name
        path.write_text(text.format(python=sys.executable), encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def up(self) -> None:
        """Start the recorder, on a port of its own."""
        self._blackbird("up", "--port", str(free_port()))

    def down(self) -> None:
        """Stop it."""
        self._blackbird("down")

    def ways(self) -> dict[tuple[str, str], Callable[[], int]]:
        """Every measurement: what, in which way, and how it is taken."""
        first, job = "until the first instruction", "a scripted job of five turns"
        upstream = ("--upstream", f"anthropic={self._url}")
        ways: dict[tuple[str, str], Callable[[], int]] = {
            (first, DIRECT): lambda: self._first([self._probe]),
            (first, "run"): lambda: self._first(self._run("--reverse", self._probe)),
            (first, "run --forward"): lambda: self._first(self._run("--forward", self._probe)),
            (first, "run, recorder not up yet"): self._first_from_cold,
            (job, DIRECT): lambda: self._whole([self._job]),
            (job, "run"): lambda: self._whole(self._run("--reverse", *upstream, self._job)),
        }
        if not self.missing:
            ways[first, "claude-tap"] = lambda: self._first(self._tap())
        return ways

    def _run(self, mode: str, *rest: str) -> list[str]:
        *options, program = rest
        return [_blackbird(), "run", "--quiet", mode, *options, "--", program]

    def _tap(self) -> list[str]:
        program = PEERS / self._peer.name / "bin" / "claude-tap"
        return [str(program), "--tap-no-open", "--tap-no-live", "--", "-p", "x"]

    def _first_from_cold(self) -> int:
        self.down()
        return self._first(self._run("--reverse", self._probe))

    def _first(self, command: list[str]) -> int:
        began = time.monotonic_ns()
        self._call(command)
        return int(self._out.read_text(encoding="ascii")) - began

    def _whole(self, command: list[str]) -> int:
        began = time.monotonic_ns()
        self._call(command)
        return time.monotonic_ns() - began

    def _blackbird(self, *arguments: str) -> None:
        self._call([_blackbird(), *arguments])

    def _call(self, command: list[str]) -> None:
        environment = {
            **os.environ,
            "HOME": str(self._folder),
            "BLACKBIRD_HOME": str(self._folder / "home"),
            "ANTHROPIC_BASE_URL": self._url,
            "PROBE_OUT": str(self._out),
            "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}",
        }
        self._out.unlink(missing_ok=True)
        done = subprocess.run(
            command, env=environment, cwd=self._folder, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"bench: {' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")


def _blackbird() -> str:
    beside = Path(sys.executable).parent / "blackbird"
    return str(beside) if beside.exists() else shutil.which("blackbird") or str(ROOT / ".venv" / "bin" / "blackbird")


def _rows(samples: dict[tuple[str, str], list[float]]) -> list[Row]:
    direct = {what: statistics.median(taken) for (what, way), taken in samples.items() if way == DIRECT}
    return [
        Row(what, way, statistics.median(taken), min(taken), max(taken), statistics.median(taken) - direct[what])
        for (what, way), taken in sorted(samples.items(), key=lambda item: item[0][0], reverse=True)
    ]


def as_markdown(report: LaunchReport) -> str:
    """A page from what was measured."""
    lines = [
        f"Medians of {report.rounds} rounds ({report.machine}), least and most in brackets; + is to a direct start.",
        "",
        "| what | way | ms | + ms |",
        "|---|---|---:|---:|",
    ]
    for row in report.rows:
        spread = f"{row.median_ms:.0f} ({row.least_ms:.0f}–{row.most_ms:.0f})"
        added = "" if row.way == DIRECT else f"{row.added_ms:+.0f}"
        lines.append(f"| {row.what} | {row.way} | {spread} | {added} |")
    if report.missing:
        lines += ["", f"Not installed, so not measured: {', '.join(report.missing)}."]
    return "\n".join(lines)
