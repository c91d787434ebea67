"""What must be fast is done, and measured: `make bench` asks memories of a million artifacts the same way."""

import sys
from pathlib import Path

import pytest

from bench import latency
from bench.latency import CACHED, COLD, COMMAND, FIRST, GET, LIMITS, NOISE, OURS, RELATED, SCOPED, UNSCOPED

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the memory is not kept on Windows")


@pytest.mark.requirement("PERF-01", "PERF-02")
def test_all_that_is_to_be_fast_is_measured_of_a_small_memory(tmp_path: Path) -> None:
    report = latency.measure(1, (1500,), cache=tmp_path, asked=4, started=1)
    counts = {row.operation: row.count for row in report.courses[0].rows if row.contender in (OURS, NOISE)}
    inside = dict.fromkeys((SCOPED, UNSCOPED, GET, RELATED, COLD, CACHED, NOISE), 4)
    assert counts == inside | {COMMAND: 1, FIRST: 1}
    # The limits are those of a large memory on a quiet machine, so nothing is held against them here.
    assert (LIMITS[SCOPED] <= 100, LIMITS[COLD] <= 1000, LIMITS[CACHED] < LIMITS[COLD]) == (True, True, True)
    page = latency.as_markdown(report)
    assert all(f"| {operation} | blackbird |" in page for operation in LIMITS)
