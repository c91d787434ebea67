"""Points in time as logs write them."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.natives.times import instant


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1_500_000_000),
        ("2026-11-16T01:27:12.329Z", 1794792432329000000),
        ("2025-12-23T17:26:44.639287041+00:00", 1766510804639287041),
        ("2025-12-23T18:26:44.6392870+01:00", 1766510804639287000),
        ("1969-12-31T23:59:59Z", -1_000_000_000),
    ],
)
def test_a_time_with_its_zone(text: str, nanoseconds: int) -> None:
    assert instant(text) == nanoseconds


@pytest.mark.parametrize("value", [None, 5, "", "soon", "2026-11-16T01:27:12", "0001-01-01T00:00:00+23:59x"])
def test_anything_else_is_none(value: object) -> None:
    assert instant(value) is None


@given(st.datetimes(timezones=st.just(dt.UTC)))
def test_each_microsecond_is_kept(time: dt.datetime) -> None:
    since = time - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

    assert instant(time.isoformat()) == since // dt.timedelta(microseconds=1) * 1000


@given(st.text())
def test_any_text_is_a_time_or_none(text: str) -> None:
    instant(text)
