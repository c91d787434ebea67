"""Scalars as the logs write them: money, durations, timestamps, attempts. Text in, value or None out."""

import datetime as dt
import decimal
import re

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?", re.ASCII)
_DURATION = re.compile(
    r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?", re.ASCII
)
_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d)", re.ASCII)
_ATTEMPT = re.compile(r"(\d{1,9})(?:/(\d{1,9}))?", re.ASCII)
_MONEY = re.compile(r"-?\$?\d{1,15}(?:,\d{3})*(?:\.\d{1,15})?", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def integer(text: str | None) -> int | None:
    """A plain count: digits only, at most 18 of them."""
    return int(text) if text and len(text) <= 18 and text.isascii() and text.isdigit() else None


def money(text: str | None) -> decimal.Decimal | None:
    """`$12.30`, `12.30`, `$1,200`."""
    if text is None or not _MONEY.fullmatch(text):
        return None
    return decimal.Decimal(text.replace("$", "").replace(",", ""))


def duration(text: str | None) -> float | None:
    """Seconds in `12h`, `34s`, `2h30m`, `1d`, `1.5h`."""
    match = _DURATION.fullmatch(text) if text else None
    if match is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds


def clock(text: str | None) -> int | None:
    """Seconds in the elapsed time `HH:MM:SS`; hours may pass 24."""
    match = _CLOCK.fullmatch(text) if text else None
    return int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3]) if match else None


def timestamp(text: str | None) -> dt.datetime | None:
    """An ISO 8601 instant. One without a zone is read as UTC."""
    if text is None or not _TIMESTAMP.fullmatch(text):
        return None
    try:
        value = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return value if value.tzinfo else value.replace(tzinfo=dt.UTC)


def attempt(text: str | None) -> tuple[int, int | None] | None:
    """`2` or `2/3`: which try this is, and of how many."""
    match = _ATTEMPT.fullmatch(text) if text else None
    return (int(match[1]), int(match[2]) if match[2] else None) if match else None


def boolean(text: str | None) -> bool | None:
    """`true` and `false` as YAML and the logs write them."""
    return {"true": True, "yes": True, "false": False, "no": False}.get(text.lower()) if text else None


def has_scheme(path: str) -> bool:
    """Whether a name is a URL and no file of this machine."""
    return _SCHEME.match(path) is not None
