"""Sizes and times as people write them: `32 MiB`, `1.5 h`; a unit is always there, and the result is whole."""

import re
from fractions import Fraction

_SIZES = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
}
_TIMES = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?) ?([A-Za-z]+)")


def parse_size(text: str) -> int:
    """A size in bytes."""
    return _parse(text, _SIZES, "a size", "32 MiB", "bytes")


def parse_duration(text: str) -> int:
    """A time in milliseconds."""
    return _parse(text, _TIMES, "a time", "20 ms", "milliseconds")


def show_size(size: int) -> str:
    """A size in the largest unit that keeps it exact; binary units before decimal ones."""
    return _show(size, _SIZES)


def show_duration(milliseconds: int) -> str:
    """A time in the largest unit that keeps it exact."""
    return _show(milliseconds, _TIMES)


def counted(count: int, what: str) -> str:
    """So many of something, as people say it: `1 session`, `1,200 sessions`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def round_size(size: int) -> str:
    """A size for people, who want to know about how much."""
    unit, factor = "B", 1
    for name in ("KiB", "MiB", "GiB", "TiB"):
        if size >= _SIZES[name]:
            unit, factor = name, _SIZES[name]
    return f"{size} B" if factor == 1 else f"{size / factor:.1f} {unit}"


def round_duration(seconds: float) -> str:
    """A time for people, in its two largest units: `2 h 5 min`."""
    rest = max(0, int(seconds))
    parts = []
    for unit in ("d", "h", "min", "s"):
        amount, rest = divmod(rest, _TIMES[unit] // 1000)
        if amount:
            parts.append(f"{amount} {unit}")
    return " ".join(parts[:2]) or "0 s"


def _parse(text: str, units: dict[str, int], what: str, example: str, whole: str) -> int:
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in units:
        names = ", ".join(units)
        raise ValueError(f'is not {what} such as "{example}": a number and one of {names}')
    amount = Fraction(match[1]) * units[match[2]]
    if amount.denominator != 1:
        raise ValueError(f"is no whole number of {whole}")
    return int(amount)


def _show(amount: int, units: dict[str, int]) -> str:
    if amount == 0:
        return f"0 {next(iter(units))}"
    number, name = min((amount // factor, name) for name, factor in units.items() if amount % factor == 0)
    return f"{number} {name}"
