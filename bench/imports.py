"""How long the import of a Claude Code log takes, and how much memory: beside tools that read the same log.

Each round gives all of them the same log, one after the other, and takes time and memory from outside: the memory of
all processes of a command together. Peers are installed below `target/peers` if the package indexes can be reached.
"""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from bench.material import claude
from bench.peers import PEERS, ROOT

SIZE = 50_000_000
LARGE = 1_000_000_000
_CCUSAGE, _CLAUDE_CODE_LOG = "ccusage@18.0.11", "claude-code-log==1.7.0"
#: A peer that takes longer is told to end.
_PATIENCE = 180.0
_LOOK_SECONDS = 0.02
_PAGE = os.sysconf("SC_PAGE_SIZE")

FIRST, AGAIN, TIMELINE = "blackbird import", "blackbird import, again", "timeline of what was imported"
#: In a process of its own, with nothing in it that only the benchmark needs.
_LOAD = f"""
from blackbird import home
from blackbird.timeline import gather
from blackbird.trace.folder import Trace
assert gather.load(Trace(home.find().trace), {claude.SESSION!r}).items
"""


class Run(msgspec.Struct):
    """What a command took in each round: seconds (None: it was ended), and the peak of its memory in megabytes."""

    name: str
    seconds: list[float | None]
    peaks: list[float]


class Race(msgspec.Struct):
    """All commands on one log."""

    megabytes: float
    files: int
    lines: int
    runs: list[Run]


class ImportsReport(msgspec.Struct):
    """Everything measured in one run."""

    races: list[Race]
    rounds: int
    machine: str


def measure(rounds: int, *, large: bool = False) -> ImportsReport:
    """Measure on 50 MB in up to three rounds, and on request once on a gigabyte, without the peers."""
    rounds = min(rounds, 3)
    races = [_race(SIZE, rounds, [FIRST, AGAIN, TIMELINE], _peers())]
    if large:
        races.append(_race(LARGE, 1, [FIRST, AGAIN], {}))
    machine = f"{platform.python_implementation()} {platform.python_version()} on {os.cpu_count()} cores"
    return ImportsReport(races, rounds, machine)


def _race(size: int, rounds: int, own: list[str], peers: Mapping[str, Callable[[Path], list[str]]]) -> Race:
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        folder = Path(place)
        _say(f"writing a log of {size / 1e6:.0f} MB")
        log = claude.write(folder / "claude", size)
        files = sorted(log.parent.rglob("*.jsonl"))
        lines = sum(_count_lines(file) for file in files)
        runs: dict[str, Run] = {}
        for number in range(rounds):
            _say(f"import, round {number + 1} of {rounds}")
            commands = _ours(log.parent)
            chosen = {name: commands[name] for name in own} | {name: peers[name](log) for name in peers}
            for contender, command in chosen.items():
                run = runs.setdefault(contender, Run(contender, [], []))
                seconds, peak = _watch(command, _environment(folder, number))
                run.seconds.append(seconds)
                run.peaks.append(peak)
        return Race(sum(file.stat().st_size for file in files) / 1e6, len(files), lines, list(runs.values()))


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _ours(project: Path) -> dict[str, list[str]]:
    blackbird = str(Path(sys.executable).with_name("blackbird"))
    command = [blackbird, "import", str(project)]
    return {FIRST: command, AGAIN: command, TIMELINE: [sys.executable, "-c", _LOAD]}


def _environment(folder: Path, number: int) -> dict[str, str]:
    """A home of its own for each round."""
    home = folder / f"home-{number}"
    home.mkdir(exist_ok=True)
    own = {
        "HOME": str(home),
        "BLACKBIRD_HOME": str(home / "blackbird"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "NO_COLOR": "1",
    }
    return {**os.environ, **own}


def _watch(command: list[str], environment: dict[str, str]) -> tuple[float | None, float]:
    """Run a command; its seconds, or None if it was ended, and the peak memory of all its processes together."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
        )
        watch = _Watch(process.pid)
        watch.start()
        try:
            code = process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None, watch.end()
        seconds, peak = time.monotonic() - start, watch.end()
        if code != 0:
            said.seek(0)
            raise SystemExit(f"bench: {command[0]} ended with {code}: {said.read().decode(errors='replace')[-2000:]}")
    return seconds, peak


class _Watch(threading.Thread):
    """Looks again and again at how much memory a process and its children have."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._process = process
        self._is_over = threading.Event()
        self._peak = 0

    def run(self) -> None:
        """Look until `end`."""
        while not self._is_over.wait(_LOOK_SECONDS):
            self._peak = max(self._peak, _resident(self._process))

    def end(self) -> float:
        """The largest sum, in megabytes."""
        self._is_over.set()
        self.join()
        return self._peak * _PAGE / 1e6


def _resident(process: int) -> int:
    """Pages in memory of a process and of those that it started; those that are gone have none."""
    folder = Path("/proc") / str(process)
    try:
        pages = int((folder / "statm").read_text().split()[1])
        children = [
            child for task in (folder / "task").iterdir() for child in (task / "children").read_text().split()
        ]
    except OSError:
        return 0
    return pages + sum(_resident(int(child)) for child in children)


def _peers() -> dict[str, Callable[[Path], list[str]]]:
    """The commands of the peers that are there, or can be installed, for a log."""
    found: dict[str, Callable[[Path], list[str]]] = {}
    ccusage = PEERS / "ccusage" / "node_modules" / ".bin" / "ccusage"
    npm = ["npm", "install", "--prefix", str(PEERS / "ccusage"), "--no-fund", "--no-audit", "--loglevel=error"]
    if shutil.which("npm") and _installed(ccusage, [[*npm, _CCUSAGE]]):
        found[_CCUSAGE] = lambda _: [str(ccusage), "session", "--json", "--offline"]
    folder = PEERS / "claude-code-log"
    program = folder / "bin" / "claude-code-log"
    venv = [[sys.executable, "-m", "venv", str(folder)]]
    if _installed(program, [*venv, [str(folder / "bin" / "pip"), "install", "--quiet", _CLAUDE_CODE_LOG]]):
        found[_CLAUDE_CODE_LOG] = lambda log: [
            str(program),
            str(log),
            "--no-cache",
            "--output",
            str(log.parents[3] / "a.html"),
        ]
    return found


def _installed(program: Path, commands: list[list[str]]) -> bool:
    if program.exists():
        return True
    program.parent.mkdir(parents=True, exist_ok=True)
    for command in commands:
        _say(f"bench: {' '.join(command)}")
        if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode != 0:
            return False
    return program.exists()


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def as_markdown(report: ImportsReport) -> str:
    """The tables of the README."""
    lines = [f"Measured with {report.machine}; memory is that of all processes of a command together.", ""]
    for race in report.races:
        rounds = len(race.runs[0].seconds)
        lines += [
            f"A made-up log of Claude Code: {race.megabytes:,.0f} MB, {race.lines:,} lines in {race.files:,} files",
            f"of a session and its sub-agents. {rounds} interleaved round{'s' if rounds > 1 else ''}:",
            "",
            "| command | seconds | range | peak RSS | time ÷ import |",
            "|---|---|---|---|---|",
            *(_row(run, race.runs[0]) for run in race.runs),
            "",
        ]
    return "\n".join([*lines, _MEANING])


def _row(run: Run, first: Run) -> str:
    peak = f"{max(run.peaks):.0f} MB"
    taken = [seconds for seconds in run.seconds if seconds is not None]
    if not taken:
        return f"| {run.name} | more than {_PATIENCE:.0f} | – | {peak} | – |"
    pairs = zip(run.seconds, first.seconds, strict=True)
    ratios = [own / ours for own, ours in pairs if own is not None and ours is not None]
    return (
        f"| {run.name} | {statistics.median(taken):.1f} | {min(taken):.1f}–{max(taken):.1f} | {peak} "
        f"| {statistics.median(ratios):.2f} |"
    )


_MEANING = """\
The import redacts every line and keeps it in the trace; what is there already is not read again. ccusage sums up
tokens, claude-code-log writes a page of the session's own file."""
