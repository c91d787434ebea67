"""What the recorder costs: beside a direct connection, nginx and other recording proxies, in the same rounds.

Everything runs on loopback and shares the machine's cores, so only ratios mean anything; the spread between rounds is
shown beside them. The load and the upstream are `bench/load`, which is faster than anything between them.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from bench.peers import (
    ALL,
    BASELINE,
    BEFORE_TLS,
    DIRECT,
    OURS,
    ROOT,
    VARIANTS,
    Peer,
    free_port,
    install,
    running,
    tls_front,
)

#: Each load: its name and the arguments of `drive`.
LOADS = {
    "json": ["--connections", "64", "--seconds", "2"],
    "paced": ["--connections", "32", "--events", "200", "--gap", "10000"],
    "full": ["--connections", "32", "--events", "1500"],
    "wide": ["--connections", "256", "--events", "100", "--gap", "10000"],
}
_TICKS = os.sysconf("SC_CLK_TCK")
#: Seconds after which a load is given up.
_LONGEST = 40


class Sample(msgspec.Struct):
    """One load on one target in one round."""

    rate: float
    p50_us: float
    p99_us: float
    #: CPU microseconds of the target for each request or event.
    cpu_us: float
    rss_mb: float
    failures: int
    count: int


class Row(msgspec.Struct):
    """A target under one load: medians over the rounds, and ratios to nginx of the same round."""

    target: str
    load: str
    rate: float
    p50_us: float
    p99_us: float
    cpu_us: float
    rss_mb: float
    rate_ratio: float
    cpu_ratio: float
    added_p50_ratio: float
    added_p99_ratio: float
    #: The smallest and the largest ratio of rates among the rounds: the noise.
    spread: tuple[float, float]
    failures: int


class RecorderReport(msgspec.Struct):
    """Everything measured in one run."""

    rows: list[Row]
    #: With TLS between proxy and upstream.
    tls: list[Row]
    #: The recorder with parts switched off.
    variants: list[Row]
    rounds: int
    machine: str
    missing: list[str]


def build_load() -> Path:
    """The load generator, built."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "blackbird-bench-load"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "blackbird-bench-load"


def measure(rounds: int, wanted: list[str] | None = None) -> RecorderReport:
    """Run all loads against all targets, interleaved: plain, before TLS, and the recorder with parts switched off."""
    load = build_load()
    peers = [peer for peer in ALL if not wanted or peer.name in wanted]
    there = [peer for peer in peers if install(peer)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        upstream, secure = free_port(), free_port()
        behind = [str(load), "upstream", "--listen", f"127.0.0.1:{upstream}"]
        stack.enter_context(running(behind, upstream, folder / "upstream.log", {}))
        plain = _measure_all(there, load, (upstream, upstream), rounds, folder / "plain")
        front = tls_front(folder, secure, upstream)
        stack.enter_context(running(front, secure, folder / "front.log", {}))
        tls = _measure_all(BEFORE_TLS, load, (upstream, secure), rounds, folder / "tls", ("json", "paced"))
        less = (ALL[0], ALL[1], *VARIANTS)
        variants = _measure_all(less, load, (upstream, upstream), rounds, folder / "variants", ("json", "full"))
    missing = [peer.name for peer in peers if peer not in there]
    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    return RecorderReport(_rows(plain), _rows(tls), _rows(variants), rounds, machine, missing)


def _measure_all(
    peers: Iterable[Peer],
    load: Path,
    ports: tuple[int, int],
    rounds: int,
    folder: Path,
    loads: Iterable[str] = tuple(LOADS),
) -> dict[tuple[str, str], list[Sample]]:
    """All loads on all peers, interleaved; the ports are those of the upstream and of what stands before it."""
    samples: dict[tuple[str, str], list[Sample]] = {}
    for number in range(rounds):
        for name in loads:
            arguments = LOADS[name]
            samples.setdefault((DIRECT, name), []).append(_drive(load, ports[0], "", arguments, None))
            for peer in peers:
                sample = _under_load(peer, load, ports[1], arguments, folder / f"{number}-{name}")
                samples.setdefault((peer.name, name), []).append(sample)
                print(f"bench: round {number + 1}, {name}, {peer.name}: {sample.rate:.0f}/s", file=sys.stderr)
    return samples


def _under_load(peer: Peer, load: Path, upstream: int, arguments: list[str], folder: Path) -> Sample:
    """A fresh process for each measurement, so that memory and CPU are its own."""
    place = folder / peer.name.split(" ")[0].lower()
    place.mkdir(parents=True)
    port = free_port()
    command = peer.command(place, port, upstream)
    with running(command, port, place / "log", peer.environment) as group:
        _drive(load, port, peer.prefix, ["--connections", "4", "--seconds", "0.2"], None)
        return _drive(load, port, peer.prefix, arguments, group)


def _drive(load: Path, port: int, prefix: str, arguments: list[str], group: int | None) -> Sample:
    before = _usage(group)
    command = [str(load), "drive", "--target", f"127.0.0.1:{port}", "--prefix", prefix, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        # A proxy that gets stuck has failed, and the others are still to be measured.
        return Sample(0.0, 0.0, 0.0, 0.0, _usage(group)[1], 1, 0)
    after = _usage(group)
    report = json.loads(done.stdout)
    count = max(report["count"], 1)
    cpu = (after[0] - before[0]) * 1e6 / count
    return Sample(
        report["rate"], report["p50_us"], report["p99_us"], cpu, after[1], report["failures"], report["count"]
    )


def _usage(group: int | None) -> tuple[float, float]:
    """CPU seconds and peak resident megabytes of a process group."""
    if group is None:
        return 0.0, 0.0
    seconds, resident = 0.0, 0.0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) != group:
                continue
            status = (entry / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        seconds += (int(fields[11]) + int(fields[12])) / _TICKS
        peak = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), "0")
        resident += int(peak) / 1024
    return seconds, resident


def _rows(samples: dict[tuple[str, str], list[Sample]]) -> list[Row]:
    rows = []
    for (target, load), taken in samples.items():
        direct = samples[DIRECT, load]
        base = samples.get((BASELINE, load), taken)
        rates = [one.rate / other.rate for one, other in zip(taken, base, strict=True)]
        p50, p99 = _added(taken, direct)
        base_p50, base_p99 = _added(base, direct)
        rows.append(
            Row(
                target=target,
                load=load,
                rate=_median([sample.rate for sample in taken]),
                p50_us=p50,
                p99_us=p99,
                cpu_us=_median([sample.cpu_us for sample in taken]),
                rss_mb=_median([sample.rss_mb for sample in taken]),
                rate_ratio=_median(rates),
                cpu_ratio=_median([sample.cpu_us for sample in taken])
                / (_median([sample.cpu_us for sample in base]) or 1.0),
                added_p50_ratio=p50 / max(base_p50, 1.0),
                added_p99_ratio=p99 / max(base_p99, 1.0),
                spread=(min(rates), max(rates)),
                failures=sum(sample.failures for sample in taken),
            )
        )
    return rows


def _added(taken: list[Sample], direct: list[Sample]) -> tuple[float, float]:
    """What a target adds to a direct connection of the same round: p50 and p99 in microseconds."""
    pairs = list(zip(taken, direct, strict=True))
    return _median([a.p50_us - b.p50_us for a, b in pairs]), _median([a.p99_us - b.p99_us for a, b in pairs])


def _median(values: list[float]) -> float:
    return statistics.median(values)


_HEADINGS = (
    "proxy",
    "JSON requests/s",
    "CPU a request",
    "32 streams, 10 ms gaps: added p50 / p99",
    "events/s at full speed",
    "CPU an event",
    "256 streams: peak RSS",
)


def as_markdown(report: RecorderReport) -> str:
    """The tables of the README."""
    lines = [
        f"Medians of {report.rounds} interleaved rounds on {report.machine}; client, upstream and proxy share",
        "its cores. Ratios are to nginx in the same round, in brackets the smallest and largest; latency is what is",
        "added to a direct connection. nginx records nothing; the recorder redacts, records and syncs.",
        "",
        *_table(report.rows),
    ]
    base = {row.load: row for row in report.rows if row.target == BASELINE}
    if base:
        lines += [
            "",
            f"nginx itself: {base['json'].rate:,.0f} JSON requests/s and {base['full'].rate:,.0f} events/s.",
        ]
    lines += ["", "With TLS to the upstream, for both:", "", *_table(report.tls)]
    lines += ["", "What parts of the recorder cost, each switched off alone:", "", *_table(report.variants)]
    failed = sorted({row.target for row in (*report.rows, *report.tls, *report.variants) if row.failures})
    if failed:
        lines += ["", f"Some requests failed at: {', '.join(failed)}."]
    if report.missing:
        lines += ["", f"Not installed, and so not measured: {', '.join(report.missing)}."]
    return "\n".join(lines)


def _table(rows: list[Row]) -> list[str]:
    by = {(row.target, row.load): row for row in rows}
    targets = [target for target, load in by if load == "json" and target != DIRECT]
    return [
        f"| {' | '.join(_HEADINGS)} |",
        "|---" * len(_HEADINGS) + "|",
        *(_line(target, *(by.get((target, load)) for load in LOADS)) for target in targets),
    ]


def _line(target: str, asked: Row | None, paced: Row | None, full: Row | None, wide: Row | None) -> str:
    cells = (
        target,
        _ratio(asked),
        _cpu(asked),
        _latency(paced),
        _ratio(full),
        _cpu(full),
        f"{wide.rss_mb:.0f} MB" if wide else "–",
    )
    return f"| {' | '.join(cells)} |"


def _latency(row: Row | None) -> str:
    if row is None:
        return "–"
    added = f"{row.p50_us / 1000:.2f} / {row.p99_us / 1000:.2f} ms"
    return f"{added} ({row.added_p50_ratio:.1f} × / {row.added_p99_ratio:.1f} ×)"


def _cpu(row: Row | None) -> str:
    return f"{row.cpu_ratio:.2f} ×" if row else "–"


def _ratio(row: Row | None) -> str:
    return f"{row.rate_ratio:.2f} × ({row.spread[0]:.2f}–{row.spread[1]:.2f})" if row else "–"


__all__ = ["DIRECT", "OURS", "RecorderReport", "as_markdown", "measure"]
