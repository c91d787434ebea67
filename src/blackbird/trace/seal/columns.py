"""The rows of a group in a seal: five columns of LEB128 numbers, one number a record."""

from collections.abc import Iterator

from blackbird.trace.errors import TraceError
from blackbird.trace.header import Header
from blackbird.trace.records import MAX_PAYLOAD, VERSION, Record

COLUMNS = 5
_LENGTH_BYTES = 4
_MORE = 0x80
_BITS = 7
_LIMIT = 1 << 64


def read_rows(data: bytes, count: int, header: Header, unit: int, request: bytes) -> list[Record]:
    """The records of one group, without their payloads. Raises `TraceError` if a column says what cannot be."""
    columns = list(_columns(data, count))
    sequence, monotonic = header.first_sequence, header.monotonic
    records: list[Record] = []
    for kind, flags, step, turn, length in zip(*columns, strict=True):
        if records and not step:
            raise TraceError("two records of a group have the same sequence")
        sequence += step
        # A difference is a signed number of 64 bits, so that of two times far apart wraps around.
        monotonic = (monotonic + (turn >> 1 ^ -(turn & 1)) * unit) % _LIMIT
        if kind > 0xFF or flags > 0xFFFF or length > MAX_PAYLOAD or sequence >= _LIMIT:
            raise TraceError("a record of a group has a number that no record can have")
        records.append(Record(VERSION, kind, flags, sequence, monotonic, request, length, None))
    return records


def _columns(data: bytes, count: int) -> Iterator[list[int]]:
    at = 0
    for _ in range(COLUMNS):
        start = at + _LENGTH_BYTES
        if start > len(data):
            raise TraceError("the rows of a group end too soon")
        at = start + int.from_bytes(data[at:start], "little")
        if at > len(data):
            raise TraceError("a column of a group is longer than its rows")
        numbers = _numbers(data[start:at])
        if len(numbers) != count:
            raise TraceError(f"a column of a group has {len(numbers)} numbers for {count} records")
        yield numbers
    if at != len(data):
        raise TraceError("the rows of a group go on behind their columns")


def _numbers(column: bytes) -> list[int]:
    if column.isascii():
        return list(column)
    numbers: list[int] = []
    value = shift = 0
    for byte in column:
        value |= (byte & 0x7F) << shift
        if byte & _MORE:
            shift += _BITS
            if shift > 63:
                raise TraceError("a number of a group is too long")
            continue
        if value >= _LIMIT:
            raise TraceError("a number of a group is too large")
        numbers.append(value)
        value = shift = 0
    if shift:
        raise TraceError("the last number of a column is cut off")
    return numbers
