"""A short run of the fuzzer of HTTP: the same cases every time."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.upstream import Upstream, answering
from tests.fuzz.fuzz_http import fuzz, understand
from tests.recorder.harness import Recorder

SEED = 11
RUNS = 300
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place with a short name, since sockets take no long ones."""
    with tempfile.TemporaryDirectory(prefix="bb") as folder:
        yield Path(folder)


@pytest.mark.requirement("PROXY-04", "PROXY-05", "PROXY-19")
def test_nothing_is_smuggled_changed_or_hung(folder: Path) -> None:
    fuzzer = asyncio.run(fuzz(folder, SEED, RUNS, 60))
    assert fuzzer.problems == []
    assert fuzzer.tally["responses"] == RUNS
    assert fuzzer.tally["requests"] > RUNS // 2
    assert fuzzer.tally["forwarded"] > RUNS // 4


def test_the_judge_is_strict() -> None:
    assert understand(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n") == (200, b"ok")
    assert understand(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok") is None
    assert understand(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok") is None
    assert understand(b"HTTP/1.1 103 Hint\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall") == (200, b"all")


@pytest.mark.parametrize(
    "trailers", [b"0\r\n", b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n", b"X-/a: 1\r\n", b" folded\r\n"]
)
def test_trailers_that_are_no_fields_are_refused(folder: Path, trailers: bytes) -> None:
    """A server that reads no trailers would take them for the next request."""
    head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Upstream(answering(OK)) as upstream, Recorder(folder / "home", default_upstream=upstream.url) as recorder:
        answer = recorder.ask(head + b"3\r\nabc\r\n0\r\n" + trailers + b"\r\n")
        assert answer.head.status == 400
        assert recorder.only().error["code"] == "bad_request"


def test_a_head_with_mixed_ends_of_lines_does_not_hang(folder: Path) -> None:
    """LF in the lines and CR LF behind them: a client that understands it gets it at once."""
    said = b"HTTP/1.1 204 No Content\nX-A: 1\n\r\n"
    with (
        Upstream(answering(said)) as upstream,
        Recorder(folder / "home", default_upstream=upstream.url) as recorder,
    ):
        with recorder.client() as client:
            client.connection.settimeout(3)
            client.send(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.exactly(len(said)) == said
        assert recorder.only().head["status"] == 204
