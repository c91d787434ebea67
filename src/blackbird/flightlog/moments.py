"""Nanoseconds since 1970 as the times of a log, and when a session began and ended."""

import datetime as dt

from blackbird.timeline.timeline import Timeline

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
#: The last second of the year 9999.
_LAST = 253_402_300_799 * 1_000_000_000


def moment(at: int | None) -> dt.datetime | None:
    """The time to the millisecond; None if there is none, or it is in no year of the calendar."""
    if at is None or not 0 <= at <= _LAST:
        return None
    return _EPOCH + dt.timedelta(milliseconds=at // 1_000_000)


def stamp(at: int | None) -> str | None:
    """The time as a line of a log has it."""
    when = moment(at)
    if when is None:
        return None
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lapse_ms(first: int | None, last: int | None) -> int | None:
    """Whole milliseconds between two times, if both are known and in this order."""
    if first is None or last is None or last < first:
        return None
    return (last - first) // 1_000_000


def first_of(timeline: Timeline) -> int | None:
    """When a session began, by what is stated or by its first item."""
    earliest = min(_times(timeline), default=None)
    stated = timeline.about.began
    return stated if earliest is None else earliest if stated is None else min(earliest, stated)


def last_of(timeline: Timeline) -> int | None:
    """When the last of its items happened."""
    return max(_times(timeline), default=timeline.about.began)


def _times(timeline: Timeline) -> list[int]:
    """When its items happened; those of before it began count only if there are no others."""
    dated = [(item.at, item.is_inherited) for item in timeline.items if item.at is not None]
    return [at for at, is_inherited in dated if not is_inherited] or [at for at, _ in dated]
