"""A short run of the fuzzer of HTTP: the same cases every time."""

import asyncio
from pathlib import Path

import pytest

from tests.fuzz.fuzz_http import fuzz, understand

SEED = 11
RUNS = 300


@pytest.mark.requirement("PROXY-04", "PROXY-05", "PROXY-19")
def test_nothing_is_smuggled_changed_or_hung(tmp_path: Path) -> None:
    fuzzer = asyncio.run(fuzz(tmp_path, SEED, RUNS, 60))
    assert fuzzer.problems == []
    assert fuzzer.tally["responses"] == RUNS
    assert fuzzer.tally["requests"] > RUNS // 2
    assert fuzzer.tally["forwarded"] > RUNS // 4


def test_the_judge_is_strict() -> None:
    assert understand(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n") == (200, b"ok")
    assert understand(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok") is None
    assert understand(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok") is None
    assert understand(b"HTTP/1.1 103 Hint\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall") == (200, b"all")
