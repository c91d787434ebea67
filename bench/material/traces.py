"""Writes exchanges into a folder as a recorder does: records in segments, each closed when it is large enough."""

from collections.abc import Iterable
from pathlib import Path

from blackbird.exchange.exchange import Exchange
from tests.blackbird.flights import BEGIN
from tests.blackbird.logbook import Logbook
from tests.blackbird.trace.encoder import encode_record

#: As large as the recorder lets a segment become.
SEGMENT_BYTES = 64 << 20


def write(exchanges: Iterable[Exchange], folder: Path) -> tuple[int, int]:
    """Write them; the bytes of all requests' and of all responses' bodies. None is kept in memory."""
    folder.mkdir(parents=True)
    book = Logbook()
    sent = received = size = 0
    for exchange in exchanges:
        book.exchange(exchange)
        sent += exchange.request_body.stored
        received += exchange.response_body.stored
        size += exchange.request_body.stored + exchange.response_body.stored
        if size > SEGMENT_BYTES:
            _flush(book, folder)
            size = 0
    _flush(book, folder)
    return sent, received


def _flush(book: Logbook, folder: Path) -> None:
    segment = book.tracer.current
    with (folder / f"{segment.number:08}.wal").open("wb") as file:
        file.write(segment.header)
        file.writelines(encode_record(segment.id, record) for record in segment.records)
    segment.records.clear()
    book.tracer.rotate(wall=BEGIN, previous_root=bytes(32))
