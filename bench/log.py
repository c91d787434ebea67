"""How fast a log is read: scan, validate and full parse, beside json.loads and msgspec over the same session.

Every round runs all contenders one after the other on the same bytes, so that a slow moment of the machine hits
them alike; the ratios are taken within a round, and their spread is shown.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.corpus import synthetic_blocks
from blackbox.check.validator import validate_blocks
from blackbox.document.document import parse
from blackbox.document.files import BLOCK_SIZE
from blackbox.document.scanner import Scanner
from blackbox.terminal.output import to_plain

SAMPLE = 8_000_000
LARGE = 100_000_000
FILES = 64


class Row(msgspec.Struct):
    """One contender: megabytes of log text a second, and how its time compares with json.loads in the same round."""

    name: str
    speed: float
    slowest: float
    fastest: float
    ratio: float
    ratio_low: float
    ratio_high: float


class Footprint(msgspec.Struct):
    """One run of the command on a large file, measured from outside."""

    name: str
    megabytes: float
    seconds: float
    peak_rss_mb: float
    cores: int


class LogReport(msgspec.Struct):
    """Everything measured in one run."""

    corpora: dict[str, list[Row]]
    footprints: list[Footprint]
    rounds: int
    interpreter: str


def measure(rounds: int, folders: list[Path]) -> LogReport:
    """Measure on a made-up session and, where folders of logs are given, on those logs put together."""
    corpora = {"synthetic session": b"".join(synthetic_blocks(SAMPLE))}
    real = _concatenated(folders)
    if real:
        corpora[f"real logs put together ({len(real) / 1e6:.1f} MB)"] = real
    report = LogReport({}, [], rounds, _interpreter())
    for name, data in corpora.items():
        _say(f"measuring {name}, {rounds} rounds")
        report.corpora[name] = _rows(data, rounds)
    report.footprints = _footprints()
    return report


def _interpreter() -> str:
    """The interpreter; how it was built matters as much as its version."""
    return f"{platform.python_implementation()} {platform.python_version()} on {os.cpu_count()} cores"


def _concatenated(folders: list[Path]) -> bytes:
    logs = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in (".rlog", ".bbox")]
    return b"".join(path.read_bytes() for path in logs)


def _rows(data: bytes, rounds: int) -> list[Row]:
    objects = _as_jsonl(data)
    blocks = [data[start : start + BLOCK_SIZE] for start in range(0, len(data), BLOCK_SIZE)]
    contenders: dict[str, Callable[[], None]] = {
        "json.loads, same session as JSONL": lambda: _each(json.loads, objects),
        "msgspec.json.decode, same JSONL": lambda: _each(msgspec.json.decode, objects),
        "blackbox line scan (type, id, text)": lambda: _scan(blocks),
        "blackbox validate": lambda: _validate(blocks),
        "blackbox full parse (typed events)": lambda: _events(blocks),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    repeats = max(1, SAMPLE // len(data))
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.process_time()
            for _ in range(repeats):
                run()
            times[name].append((time.process_time() - start) / repeats)
    base = times["json.loads, same session as JSONL"]
    return [_row(name, taken, base, len(data)) for name, taken in times.items()]


def _row(name: str, taken: list[float], base: list[float], size: int) -> Row:
    speeds = sorted(size / 1e6 / seconds for seconds in taken)
    ratios = sorted(seconds / reference for seconds, reference in zip(taken, base, strict=True))
    return Row(
        name, statistics.median(speeds), speeds[0], speeds[-1], statistics.median(ratios), ratios[0], ratios[-1]
    )


def _as_jsonl(data: bytes) -> list[bytes]:
    """The same session as one JSON object a line: what the events say, nothing more."""
    found = []
    for line in parse(data).lines:
        body: dict[str, Any] = {"type": line.kind.value, "metadata": line.head.metadata}
        body["event"] = msgspec.to_builtins(line.event, enc_hook=to_plain)
        found.append(json.dumps(body, ensure_ascii=False, default=str).encode(errors="replace"))
    return found


def _each(decode: Callable[[bytes], object], objects: list[bytes]) -> None:
    for item in objects:
        decode(item)


def _scan(blocks: list[bytes]) -> None:
    scanner = Scanner()
    for block in blocks:
        for line in scanner.feed(block):
            _ = line.kind, line.id, line.text


def _validate(blocks: list[bytes]) -> None:
    validate_blocks(blocks)


def _events(blocks: list[bytes]) -> None:
    scanner = Scanner()
    for block in blocks:
        for line in scanner.feed(block):
            _ = line.event


def _footprints() -> list[Footprint]:
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder, "large.bbox")
        _write(large, synthetic_blocks(LARGE))
        _say(f"blackbox validate on {large.stat().st_size / 1e6:.0f} MB")
        alone = _run_command("one 100 MB log", ["validate", "--json", str(large)], [large], cores=2)
        large.unlink()
        parts = [Path(folder, f"part{number:02}.bbox") for number in range(FILES)]
        for number, part in enumerate(parts):
            _write(part, synthetic_blocks(LARGE // FILES, seed=number + 2))
        cores = os.cpu_count() or 1
        _say(f"blackbox validate on {FILES} files")
        names = [str(part) for part in parts]
        one = _run_command(f"{FILES} logs, --jobs 1", ["validate", "--json", "--jobs", "1", *names], parts, cores=1)
        label = f"{FILES} logs, --jobs {cores}"
        many = _run_command(label, ["validate", "--json", "--jobs", str(cores), *names], parts, cores=cores)
        return [alone, one, many]


def _write(path: Path, blocks: Iterator[bytes]) -> None:
    with path.open("wb") as target:
        for block in blocks:
            target.write(block)


#: A small process between us and the command: a child's peak memory counts from before its exec.
_LAUNCHER = """
import json, os, sys, time
start = time.perf_counter()
sink = os.open(os.devnull, os.O_WRONLY)
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, sink, 1)])
_, status, usage = os.wait4(pid, 0)
print(json.dumps([status, time.perf_counter() - start, usage.ru_maxrss]))
"""


def _run_command(name: str, arguments: list[str], files: list[Path], *, cores: int) -> Footprint:
    """Run the real command and take time and memory from the kernel."""
    program = Path(sys.executable).with_name("blackbox")
    launcher = [sys.executable, "-S", "-c", _LAUNCHER, str(program), *arguments]
    done = subprocess.run(launcher, stdout=subprocess.PIPE, check=True)
    status, seconds, peak_kilobytes = json.loads(done.stdout)
    if status != 0:
        raise RuntimeError(f"blackbox {arguments[0]} ended with status {status}")
    size = sum(path.stat().st_size for path in files) / 1e6
    return Footprint(name, size, seconds, peak_kilobytes / 1e3, cores)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


_UNITS = " (MB of log text per second of CPU time; time as a multiple of json.loads in the same round):"


def as_markdown(report: LogReport) -> str:
    """The tables of the README."""
    lines = [f"Measured with {report.interpreter}.", ""]
    for name, rows in report.corpora.items():
        lines += [
            f"{name[0].upper()}{name[1:]}, one core, {report.rounds} interleaved rounds{_UNITS}",
            "",
            "| reader | median MB/s | range | time ÷ json.loads | range |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {row.name} | {row.speed:.1f} | {row.slowest:.1f}–{row.fastest:.1f} "
            f"| {row.ratio:.2f} | {row.ratio_low:.2f}–{row.ratio_high:.2f} |"
            for row in rows
        ]
        lines.append("")
    lines += [
        "The command from outside, start-up included:",
        "",
        "| `blackbox validate` on | MB | seconds | MB/s | peak RSS |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {item.name} | {item.megabytes:.0f} | {item.seconds:.1f} | {item.megabytes / item.seconds:.1f} "
        f"| {item.peak_rss_mb:.0f} MB |"
        for item in report.footprints
    ]
    lines += ["", _LIMITS]
    return "\n".join(lines)


_LIMITS = """\
What limits it: the interpreter. A scan makes one object a line and `validate` some forty calls a line, in plain
Python; reading, decoding and splitting take a tenth of the time. Memory grows only with the number of call ids (a
hash each) and with the longest line. The command also searches for secrets, which the library's `validate` in the
first tables does only on request; that search has a process of its own for one long log. Several logs are shared
out over all cores."""
