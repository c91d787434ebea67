"""Points in time as logs write them, in nanoseconds since 1970."""

import datetime as dt
import re

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_NANOSECONDS = 1_000_000_000
_DIGITS = 9
#: The digits of a fraction that `datetime` has no place for.
_FINER = re.compile(r"[.,]\d{6}(\d{1,3})")
#: No time with a fraction that fine is shorter.
_SHORTEST_FINER = len("2025-12-23T17:26:44.6392870Z")


def instant(text: object) -> int | None:
    """When an RFC 3339 text says it was; None for anything else, and for a time of no known zone."""
    if not isinstance(text, str):
        return None
    try:
        since = dt.datetime.fromisoformat(text) - _EPOCH
    except (ValueError, TypeError, OverflowError):
        return None
    nanoseconds = (since.days * 86_400 + since.seconds) * _NANOSECONDS + since.microseconds * 1000
    finer = _FINER.search(text) if len(text) >= _SHORTEST_FINER else None
    return nanoseconds if finer is None else nanoseconds + int(finer[1].ljust(_DIGITS - 6, "0"))
