"""Numbers, money, times and metadata, and what is said of those that are none."""

import datetime as dt

import pytest

from blackbox import UsageError, parse
from tests.blackbox.write.clocks import bare_log


def test_wrong_values_name_their_argument() -> None:
    _, log = bare_log()
    with pytest.raises(UsageError, match="cost"):
        log.checkpoint(cost="lots")
    with pytest.raises(UsageError, match="timeout"):
        log.wait_approval(timeout="soon")
    with pytest.raises(UsageError, match="tokens"):
        log.checkpoint(tokens=-1)
    with pytest.raises(UsageError, match="elapsed"):
        log.elapsed("soon")
    with pytest.raises(UsageError, match="zone"):
        log.user("x", ts=dt.datetime(2025, 1, 1))  # noqa: DTZ001 - that is the point
    with pytest.raises(UsageError, match="either"):
        log.observe("call_1")
    with pytest.raises(UsageError, match="priority"):
        log.assess([("high", "x")])
    with pytest.raises(UsageError, match="status"):
        log.todos([("In Progress", "x")])
    log.close()


def test_values_of_other_kinds() -> None:
    stream, log = bare_log(duration=5400, dirty=True, tokens_total_in=5, budget=12)
    log.user("x", ts="2025-01-01T00:00:00Z", attempt=(2, 3), interrupted=True, level="info")
    log.agent("y", tokens_in=5, tokens_out=6, interrupted=False)
    log.elapsed(dt.timedelta(hours=30))
    log.wait_approval(pr=1, timeout=0)
    log.ask("z", options=["a"], why={"a": 1}).select()
    assert str(log.start_tool("x")) == "call_1"
    log.start(duration="1d")
    assert stream.body == (
        "u: x attempt=2/3 level=info ts=2025-01-01T00:00:00Z interrupted\n"
        "a: y tokens_in=5 tokens_out=6\n"
        "# t=30:00:00\n"
        "@wait-approval pr=1 timeout=0s\n"
        'q: id=q_1 "z" options=["a"] why="{\\"a\\":1}" → [pending]\n'
        "q: id=q_1 → [selected]\n"
        "t!:x id=call_1 → [running]\n"
        "@start duration=1d\n"
    )
    header = parse(stream.getvalue()).header
    assert header is not None
    assert header.fields == {
        "format": "bbox/1",
        "id": "s",
        "repo_sha": "abc1234",
        "dirty": "true",
        "budget": "$12",
        "duration": "1h30m",
        "tokens_total_in": "5",
        "escape": "1",
    }
    log.close()
    assert "# tokens=11 tools=1 " in stream.body


def test_numbers_out_of_range_are_refused() -> None:
    _, log = bare_log()
    with pytest.raises(UsageError, match="duration"):
        log.start(duration=-1)
    with pytest.raises(UsageError, match="elapsed"):
        log.elapsed(10**9)
    with pytest.raises(UsageError, match="digits"):
        log.budget("0.1", remaining=1e-17)
    with pytest.raises(UsageError, match="money"):
        log.budget(float("inf"))
    log.close()
