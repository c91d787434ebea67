"""Scalars: text in, value or None out."""

import datetime as dt
from decimal import Decimal

import pytest

from blackbox.syntax.values import attempt, boolean, clock, duration, integer, money, timestamp


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("12847", 12847),
        ("9" * 18, int("9" * 18)),
        ("9" * 19, None),
        ("-1", None),
        ("1.5", None),
        ("", None),
    ],
)
@pytest.mark.requirement("METRIC-05")
def test_integer(text: str, value: int | None) -> None:
    assert integer(text) == value


@pytest.mark.parametrize("text", ["٣", "²", "1_000", " 1", "1\n", None])
def test_integer_takes_plain_digits_only(text: str | None) -> None:
    assert integer(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$12.30", Decimal("12.30")),
        ("0.00045", Decimal("0.00045")),
        ("$1,200", Decimal(1200)),
        ("-$3", Decimal(-3)),
        ("$", None),
        ("12 USD", None),
        ("1e3", None),
        (None, None),
    ],
)
@pytest.mark.requirement("METRIC-05")
def test_money_is_exact(text: str | None, value: Decimal | None) -> None:
    assert money(text) == value


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("34s", 34.0),
        ("10m", 600.0),
        ("2h", 7200.0),
        ("12h", 43200.0),
        ("1d", 86400.0),
        ("2h30m", 9000.0),
        ("1.5h", 5400.0),
        ("17m45s", 1065.0),
        ("30m2h", None),
        ("12", None),
        ("h", None),
        ("", None),
        (None, None),
    ],
)
@pytest.mark.requirement("METRIC-11")
def test_duration(text: str | None, seconds: float | None) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:00:00", 0), ("04:00:01", 14401), ("127:59:59", 460799), ("4:00", None), ("00:60:00", None), (None, None)],
)
@pytest.mark.requirement("TIME-02")
def test_clock_may_pass_a_day(text: str | None, seconds: int | None) -> None:
    assert clock(text) == seconds


@pytest.mark.requirement("META-07")
def test_timestamp_keeps_offset_and_fraction() -> None:
    value = timestamp("2026-02-03T04:05:06.250+02:00")
    assert value == dt.datetime(2026, 2, 3, 4, 5, 6, 250_000, dt.timezone(dt.timedelta(hours=2)))
    assert value.utcoffset() == dt.timedelta(hours=2)


@pytest.mark.requirement("META-07")
def test_timestamp_without_zone_is_utc() -> None:
    assert timestamp("2026-02-03T04:05:06") == dt.datetime(2026, 2, 3, 4, 5, 6, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "text", ["2026-02-03", "2026-02-30T00:00:00Z", "03.02.2026", "2026-02-03 04:05:06", "now", "", None]
)
def test_anything_else_is_no_timestamp(text: str | None) -> None:
    assert timestamp(text) is None


@pytest.mark.parametrize(
    ("text", "value"), [("2", (2, None)), ("2/3", (2, 3)), ("2/", None), ("/3", None), ("two", None), (None, None)]
)
@pytest.mark.requirement("META-12")
def test_attempt(text: str | None, value: tuple[int, int | None] | None) -> None:
    assert attempt(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("False", False), ("yes", True), ("maybe", None), ("", None)]
)
def test_boolean(text: str, value: bool | None) -> None:
    assert boolean(text) is value
