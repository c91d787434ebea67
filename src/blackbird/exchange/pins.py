"""Which sessions and runs are kept: the pins that were stated and not taken back."""

from collections.abc import Iterable

from blackbird.exchange.payloads import text
from blackbird.trace.records import Kind, Record, read_object

_WHAT = ("session", "run")


def pins_in_force(records: Iterable[Record]) -> list[str]:
    """Such as `session harbour`, from all records that belong to no request, in order."""
    pins: dict[str, None] = {}
    for record in records:
        if record.kind != Kind.HARNESS_EVENT:
            continue
        fields = read_object(record) or {}
        names = [f"{what} {name}" for what in _WHAT if (name := text(fields, what)) is not None]
        if fields.get("event") == "pin":
            pins.update(dict.fromkeys(names))
        elif fields.get("event") == "unpin":
            for name in names:
                pins.pop(name, None)
    return list(pins)
