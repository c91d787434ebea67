"""When a record was written: wall time from monotonic time, by the anchors of its segment."""

import bisect
import datetime as dt

from blackbird.exchange.payloads import number
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, read_object

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Clock:
    """The anchors of one segment: its header, and each checkpoint for the records behind it."""

    def __init__(self, header: Header) -> None:
        self._sequences = [0]
        self._offsets = [header.wall - header.monotonic]

    def take(self, record: Record) -> None:
        """Use a checkpoint as an anchor; other records are passed over. In the order of their sequences."""
        if record.kind != Kind.CHECKPOINT:
            return
        fields = read_object(record) or {}
        wall, monotonic = number(fields, "wall"), number(fields, "monotonic")
        if wall is not None and monotonic is not None:
            self._sequences.append(record.sequence)
            self._offsets.append(wall - monotonic)

    def wall(self, record: Record) -> int:
        """Nanoseconds since 1970."""
        at = bisect.bisect_right(self._sequences, record.sequence) - 1
        return record.monotonic + self._offsets[at]


def to_rfc3339(wall: int) -> str | None:
    """A time in UTC with microseconds; nothing if no calendar has it."""
    try:
        return (_EPOCH + dt.timedelta(microseconds=wall // 1000)).isoformat(timespec="microseconds")[:-6] + "Z"
    except OverflowError:
        return None
