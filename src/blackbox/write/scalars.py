"""Python values as the words of a log: numbers, money, times, names, arguments and metadata."""

import datetime as dt
import decimal
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TypedDict

import msgspec

from blackbox.errors import UsageError
from blackbox.events.calls import Arguments
from blackbox.syntax import values
from blackbox.syntax.metadata import is_known
from blackbox.syntax.tokens import Value

#: What a call's argument may be. Lists keep their items, mappings become JSON text.
Argument = (
    str | int | float | bool | decimal.Decimal | PurePath | Sequence["Argument"] | Mapping[str, "Argument"] | None
)
Money = str | int | float | decimal.Decimal
Duration = str | int | float | dt.timedelta


class MetaFields(TypedDict, total=False):
    """The metadata any line may carry. `id`, `step` and `ts` are filled in where they are left out."""

    id: str
    step: int
    ts: dt.datetime | str
    tid: str | int
    span: str
    parent: str
    latency_ms: int
    attempt: int | tuple[int, int] | str
    level: str
    model: str
    sig: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_cache_create: int
    interrupted: bool
    extra: Mapping[str, Argument]


_NAME = re.compile(r"[^\s→\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_PRIMITIVE = re.compile(r"[A-Za-z][\w-]*")
_CENT = decimal.Decimal("0.01")


def name(argument: str, given: str) -> str:
    """A name as it stands behind a prefix: it cannot be quoted or escaped there."""
    if not _NAME.fullmatch(given):
        raise UsageError(
            f"{argument} {given[:80]!r} cannot be written: a name is not empty and holds no spaces, control "
            "characters or `→`",
            f"pass another {argument}, such as {re.sub(r'[^A-Za-z0-9._-]+', '-', given).strip('-') or 'read'!r}",
        )
    return given


def primitive(given: str) -> str:
    """The word behind an `@`."""
    if not _PRIMITIVE.fullmatch(given):
        raise UsageError(
            f"name {given[:80]!r} is no lifecycle word: it starts with a letter and goes on with letters, digits, "
            "`_` and `-`",
            "pass a word such as 'checkpoint'",
        )
    return given


def whole(argument: str, given: int) -> str:
    """A count."""
    if values.integer(str(given)) != given:
        raise UsageError(f"{argument} {given!r} is no count", "give a whole number from 0 to 10^18 - 1")
    return str(given)


def money(argument: str, given: Money, *, sign: str = "$") -> str:
    """An amount such as `$12.30`; whole amounts stay whole."""
    amount = values.money(given) if isinstance(given, str) else _decimal(given)
    if amount is None or not amount.is_finite():
        raise UsageError(f"{argument} {given!r} is no amount of money", 'write it as 12.30 or "$12.30"')
    if amount % 1 and amount == amount.quantize(_CENT):
        amount = amount.quantize(_CENT)
    text = f"{'-' if amount < 0 else ''}{sign}{abs(amount):f}"
    if values.money(text) != amount:
        raise UsageError(f"{argument} {given!r} has too many digits", "round it to at most 15 decimal places")
    return text


def _decimal(given: float | decimal.Decimal) -> decimal.Decimal:
    return given if isinstance(given, decimal.Decimal) else decimal.Decimal(str(given))


def amount(argument: str, given: Money) -> decimal.Decimal:
    """An amount as a reader of the log will see it."""
    return decimal.Decimal(money(argument, given, sign=""))


def duration(argument: str, given: Duration) -> str:
    """A length of time such as `12h`, `2h30m` or `34s`."""
    if isinstance(given, str):
        if not given or values.duration(given) is None:
            raise UsageError(f"{argument} {given!r} is no length of time", 'write it as "12h", "2h30m" or "34s"')
        return given
    seconds = given.total_seconds() if isinstance(given, dt.timedelta) else float(given)
    if not 0 <= seconds < 10**12:
        raise UsageError(
            f"{argument} {given!r} is no length of time", "give seconds, a timedelta or text like '2h30m'"
        )
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m"), (rest, "s")) if number]
    return "".join(parts) or "0s"


def clock(argument: str, given: float | dt.timedelta | str) -> str:
    """Elapsed time as `HH:MM:SS`."""
    if isinstance(given, str):
        if values.clock(given) is None:
            raise UsageError(f"{argument} {given!r} is no elapsed time", "write it as HH:MM:SS")
        return given
    seconds = int(given.total_seconds() if isinstance(given, dt.timedelta) else given)
    if not 0 <= seconds < 10_000 * 3600:
        raise UsageError(f"{argument} {given!r} is out of range", "give the seconds since the session began")
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def timestamp(argument: str, given: dt.datetime | str) -> str:
    """A wall-clock time in UTC, to the millisecond where it has one."""
    if isinstance(given, str):
        return given
    if given.tzinfo is None:
        raise UsageError(f"{argument} {given!r} has no time zone", "pass an aware datetime, such as now(UTC)")
    utc = given.astimezone(dt.UTC)
    return utc.isoformat(timespec="milliseconds" if utc.microsecond else "seconds").replace("+00:00", "Z")


def arguments(
    positional: Sequence[Argument],
    keyword: Mapping[str, Argument | None],
    more: Mapping[str, Argument] | None = None,
) -> Arguments:
    """A call's arguments; keyword values that are None are left out, those in `more` are not."""
    pairs = {key: _value(item) for key, item in keyword.items() if item is not None}
    pairs |= {key: _value(item) for key, item in (more or {}).items()}
    return Arguments(tuple(_value(item) for item in positional), pairs)


def _value(given: Argument) -> Value:
    """One argument of a call as text, or as a list of texts."""
    if isinstance(given, list | tuple):
        return tuple(text_of(item) for item in given)
    return text_of(given)


def text_of(given: Argument) -> str:
    """Any value as one text."""
    if isinstance(given, str):
        return str(given)
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    if isinstance(given, bool) or given is None or isinstance(given, Mapping | Sequence):
        return msgspec.json.encode(given, enc_hook=str).decode()
    return f"{given:f}" if isinstance(given, decimal.Decimal) else str(given)


def meta_of(given: MetaFields) -> dict[str, str]:
    """Typed metadata as the words a line carries."""
    found: dict[str, str] = {}
    for key, item in given.items():
        if item is None or item is False:
            continue
        if key == "extra":
            found |= {f"extra.{name}": text_of(value) for name, value in given["extra"].items()}
        elif key == "interrupted":
            found[key] = ""
        elif key == "ts":
            found[key] = timestamp(key, given["ts"])
        elif isinstance(item, tuple):
            found[key] = "/".join(str(part) for part in item)
        else:
            found[key] = str(item)
    check_meta(found)
    return found


def check_meta(meta: Mapping[str, str]) -> None:
    """Refuse keys that no reader would take for metadata."""
    unknown = [key for key in meta if key != "interrupted" and not is_known(key)]
    if unknown:
        raise UsageError(
            f"{unknown[0]!r} is no metadata key", f"pass it as extra={{{unknown[0].removeprefix('extra.')!r}: …}}"
        )
    if "interrupted" in meta and len(meta) == 1:
        raise UsageError("interrupted needs another field on its line", "give the line an id, or leave steps on")
