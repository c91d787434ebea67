"""What a fuzzer does with any bytes that may be a session: read them, write every form, read that again."""

from collections.abc import Iterator
from pathlib import Path

from blackbox.errors import ReadError
from blackbox.formats import convert
from blackbox.formats.flight import Flight, is_same
from blackbox.formats.recognise import Form

ROOT = Path(__file__).resolve().parents[2]
#: The forms that carry every event.
WHOLE = (Form.JSONL, Form.COMPANION)


def exercise(data: bytes) -> None:
    """Any bytes give a session or a `ReadError`; a session comes through each form that promises to carry it."""
    try:
        _, reading = convert.read(data, "fuzz")
    except ReadError:
        return
    convert.write(reading.flight, Form.COMPACT)
    convert.write(reading.flight, Form.RLOG)
    # As a log spells it: what has no spelling is a remark there, and stays one.
    (spelled,) = convert.write(reading.flight, Form.BBOX).texts.values()
    log = convert.read(spelled.encode(), "log")[1].flight
    for form in WHOLE:
        (text,) = convert.write(log, form).texts.values()
        _check(log, convert.read(text.encode(), form.value)[1].flight, form)


def _check(before: Flight, after: Flight, form: Form) -> None:
    if before.header != after.header:
        raise AssertionError(f"{form}: the header differs")
    if len(before.entries) != len(after.entries):
        raise AssertionError(f"{form}: {len(before.entries)} entries became {len(after.entries)}")
    for number, (one, other) in enumerate(zip(before.entries, after.entries, strict=True), start=1):
        if not is_same(one, other):
            raise AssertionError(f"{form}: entry {number} differs: {one} and {other}")


def seeds() -> Iterator[bytes]:
    """The examples in every form, in pieces that a fuzzer can hold."""
    for path in sorted((ROOT / "examples").glob("*.*")):
        if path.suffix not in (".bbox", ".rlog"):
            continue
        flight = convert.read(path.read_bytes(), path.name)[1].flight
        for start in range(0, len(flight.entries), 6):
            part = Flight(flight.header, flight.entries[start : start + 6])
            for form in (Form.BBOX, Form.COMPACT, Form.JSONL, Form.COMPANION):
                (text,) = convert.write(part, form).texts.values()
                yield text.encode()
