"""Sizes and times as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.config import units


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0 B", 0),
        ("1 B", 1),
        ("128 MB", 128_000_000),
        ("128 MiB", 134_217_728),
        ("32MiB", 33_554_432),
        ("1.5 KiB", 1536),
        ("2 kB", 2000),
        ("3 GB", 3_000_000_000),
        ("1 GiB", 1_073_741_824),
        ("1 TB", 10**12),
        ("1 TiB", 1 << 40),
    ],
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("20 ms", 20), ("1 s", 1000), ("1.5 s", 1500), ("2 min", 120_000), ("1 h", 3_600_000), ("30d", 2_592_000_000)],
)
def test_a_time_is_read(text: str, milliseconds: int) -> None:
    assert units.parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "32",
        "MiB",
        "-1 MiB",
        "1  MiB",
        " 1 MiB",
        "1 MiB ",
        "1 mib",
        "1 KB",
        "1e3 B",
        "1,5 GB",
        "1. GB",
        "٣ MB",
        "1 h",
    ],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size such as"):
        units.parse_size(text)


def test_a_size_is_whole() -> None:
    with pytest.raises(ValueError, match="no whole number of bytes"):
        units.parse_size("0.3 KiB")


@pytest.mark.parametrize("text", ["20", "20 msec", "1 H", "1 MiB", "PT1H"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time such as"):
        units.parse_duration(text)


@given(st.integers(0, 1 << 52))
def test_a_size_that_is_shown_reads_back(size: int) -> None:
    assert units.parse_size(units.show_size(size)) == size


@given(st.integers(0, 10**12))
def test_a_time_that_is_shown_reads_back(milliseconds: int) -> None:
    assert units.parse_duration(units.show_duration(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0 B"), (1, "1 B"), (33_554_432, "32 MiB"), (128_000_000, "128 MB"), (1000, "1 kB")]
)
def test_a_size_is_shown_in_its_largest_exact_unit(size: int, shown: str) -> None:
    assert units.show_size(size) == shown


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1_600_000, "1.5 MiB"),
        (1 << 30, "1.0 GiB"),
        (3 << 40, "3.0 TiB"),
    ],
)
def test_a_size_is_rounded_for_people(size: int, shown: str) -> None:
    assert units.round_size(size) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-1, "0 s"),
        (0.4, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (7500, "2 h 5 min"),
        (90_061, "1 d 1 h"),
        (86_401, "1 d 1 s"),
    ],
)
def test_a_time_is_rounded_for_people(seconds: float, shown: str) -> None:
    assert units.round_duration(seconds) == shown
