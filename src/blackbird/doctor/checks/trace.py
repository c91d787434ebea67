"""Whether the trace has room to grow, and whether its times can be believed."""

import datetime as dt
from collections.abc import Iterator

from blackbird.config.units import round_size
from blackbird.doctor.facts.files import Files
from blackbird.doctor.facts.recorded import Jump, Recorded
from blackbird.doctor.findings import Finding, error, ok, warning
from blackbird.exchange.clock import to_rfc3339

_TOO_LITTLE = 256 << 20
_LITTLE = 1 << 30
_FEW_DAYS = 14
_DAY_NS = 86_400 * 1_000_000_000
_ROOM = 'free some space, blackbird trace clean --days 30, or set trace.max_size = "10 GiB"'


def check(recorded: Recorded, files: Files, since_ns: int, now_ns: int) -> Iterator[Finding]:
    """All about the trace but its bytes, which `trace verify` reads."""
    if files.free is not None:
        yield _room(files.free, daily_growth(recorded, since_ns, now_ns))
    if recorded.begins_ns is not None:
        yield _clock(recorded.jumps)
    for problem in recorded.unreadable:
        yield error("trace-unreadable", "part of the trace cannot be read", problem, "blackbird trace verify")
    if recorded.begins_ns is not None and not recorded.unreadable:
        yield ok("trace", f"the trace takes {round_size(recorded.bytes)}", "blackbird trace verify reads all of it")


def daily_growth(recorded: Recorded, since_ns: int, now_ns: int) -> int:
    """Bytes a day, by the segments of the time that was looked at."""
    begin = max(since_ns, recorded.begins_ns or since_ns)
    days = max(1.0, (now_ns - begin) / _DAY_NS)
    return int(recorded.recent_bytes / days)


def _room(free: int, growth: int) -> Finding:
    evidence = f"{round_size(free)} free, the trace grows by {round_size(growth)} a day"
    if free < _TOO_LITTLE:
        return error("disk-full", "the disk is nearly full", evidence, _ROOM)
    if free < _LITTLE:
        return warning("disk-low", "the disk has little room", evidence, _ROOM)
    if growth and free // growth < _FEW_DAYS:
        return warning("disk-low", f"the disk is full in about {free // growth} days", evidence, _ROOM)
    return ok("disk", "there is room on the disk", evidence)


def _clock(jumps: list[Jump]) -> Finding:
    if not jumps:
        return ok("clock", "the clock did not jump while it was recorded")
    last = jumps[-1]
    way = "forward" if last.seconds > 0 else "back"
    size = dt.timedelta(seconds=round(abs(last.seconds)))
    times = f"{len(jumps)} time{'s' if len(jumps) != 1 else ''}"
    return warning(
        "clock-jumps",
        f"the clock was set {times} while it was recorded; times around that are not to be compared",
        f"last {way} by {size}, {to_rfc3339(last.at_ns)}",
        "let the system keep its time: timedatectl set-ntp true",
    )
