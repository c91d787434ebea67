"""What a client waits for at each hook: from the start of the process to its end, beside processes that do nothing.

All programs take turns, one start after the other; every condition has its own baseline. The recorder is the released
build, as a user has it.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import msgspec

from bench.peers import ROOT, free_port, recorder_config, recorder_home
from bench.recorder import build_load
from blackbird.recorder import control

#: Starts of each program in a round.
STARTS = 100
_PATIENCE_SECONDS = 20
#: What eight agents at work put through a recorder, and more: streams with an event every 10 ms.
_LOAD = ["--connections", "32", "--events", "100000", "--gap", "10000"]
_SAID = {
    "hook_event_name": "PostToolUse",
    "session_id": "bench",
    "cwd": "/",
    "tool_name": "Bash",
    "tool_input": {"command": "make test"},
    "tool_response": {"stdout": "ok\n" * 700, "stderr": ""},
    "tool_use_id": "toolu_bench",
}
HOOK = "blackbird-recorder hook"
_NOTHING = {"/bin/true": ["/bin/true"], "python3 -c pass": [sys.executable, "-c", "pass"]}


class Row(msgspec.Struct):
    """One program in one condition, in milliseconds."""

    condition: str
    program: str
    p50_ms: float
    p99_ms: float
    most_ms: float
    starts: int


class HookReport(msgspec.Struct):
    """Everything measured in one run."""

    rows: list[Row]
    machine: str


def measure(rounds: int) -> HookReport:
    """Start each program often, in each condition."""
    recorder = _build()
    samples: dict[tuple[str, str], list[float]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        bench = _Bench(folder, recorder, build_load())
        for number in range(rounds):
            for condition, entered in bench.conditions().items():
                with entered():
                    for program, taken in bench.turns(STARTS):
                        samples.setdefault((condition, program), []).append(taken)
                print(f"bench: round {number + 1}, {condition}", file=sys.stderr)
    return HookReport(_rows(samples), f"{os.cpu_count()} cores, {platform.machine()}")


def _build() -> str:
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "blackbird-recorder"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return str(target / "release" / "blackbird-recorder")


class _Bench:
    """A home, what a client says, and the programs."""

    def __init__(self, folder: Path, recorder: str, load: Path) -> None:
        self._recorder = recorder
        self._load = load
        self._port, self._upstream = free_port(), free_port()
        self._home = recorder_home(folder)
        self._config = recorder_config(folder, self._port, self._upstream)
        self._said = folder / "said.json"
        self._said.write_text(json.dumps(_SAID), encoding="utf-8")
        hook = [recorder, "hook", "--config", str(self._config), "--client", "bench"]
        self._programs = {HOOK: hook, **_NOTHING}

    def conditions(self) -> dict[str, Callable[[], AbstractContextManager[None]]]:
        """How the recorder is, by name."""
        return {
            "recorder up": self._up,
            "under load": self._under_load,
            "down": self._down,
            "hung": self._hung,
        }

    def turns(self, starts: int) -> Iterator[tuple[str, float]]:
        """Each program in turn, so often; how many milliseconds it took."""
        for _ in range(starts):
            for program, command in self._programs.items():
                with self._said.open("rb") as said:
                    began = time.perf_counter_ns()
                    process = subprocess.Popen(command, stdin=said, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    process.communicate()
                    yield program, (time.perf_counter_ns() - began) / 1e6

    @contextmanager
    def _up(self) -> Iterator[None]:
        command = [self._recorder, "serve", "--config", str(self._config)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            process.stdout.readline()
            try:
                yield
            finally:
                process.terminate()
                process.wait(_PATIENCE_SECONDS)

    @contextmanager
    def _under_load(self) -> Iterator[None]:
        upstream = [str(self._load), "upstream", "--listen", f"127.0.0.1:{self._upstream}"]
        drive = [str(self._load), "drive", "--target", f"127.0.0.1:{self._port}", *_LOAD]
        with self._up(), _beside(upstream):
            time.sleep(0.2)
            with _beside(drive):
                time.sleep(0.5)
                yield

    @contextmanager
    def _down(self) -> Iterator[None]:
        yield

    @contextmanager
    def _hung(self) -> Iterator[None]:
        with self._up():
            status = control.status(self._home)
            assert status is not None
            os.kill(status["pid"], signal.SIGSTOP)
            try:
                yield
            finally:
                os.kill(status["pid"], signal.SIGCONT)


@contextmanager
def _beside(command: list[str]) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


def _rows(samples: dict[tuple[str, str], list[float]]) -> list[Row]:
    rows = []
    for (condition, program), taken in samples.items():
        ordered = sorted(taken)
        middle, last = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
        rows.append(Row(condition, program, middle, last, ordered[-1], len(ordered)))
    return rows


def as_markdown(report: HookReport) -> str:
    """A page from what was measured."""
    starts = report.rows[0].starts
    lines = [
        f"Milliseconds from the start of the process to its end, {starts} starts of each in turn ({report.machine}).",
        "",
        "| recorder | program | p50 | p99 | most |",
        "|---|---|---:|---:|---:|",
    ]
    for row in report.rows:
        figures = f"{row.p50_ms:.2f} | {row.p99_ms:.2f} | {row.most_ms:.2f}"
        lines.append(f"| {row.condition} | {row.program} | {figures} |")
    return "\n".join(lines)
