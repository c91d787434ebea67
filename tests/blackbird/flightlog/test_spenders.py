"""The companions of a session give a tool that reads Claude Code's logs the totals of the session."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from blackbird.canon.model import Usage
from tests.blackbird.flightlog.spenders import CACHED, count, export, spender


def as_counted(usage: Usage) -> Usage:
    """Without what no such tool tells apart."""
    return msgspec.structs.replace(usage, cache_write_1h=0, reasoning=0)


@pytest.mark.requirement("DUAL-11")
@pytest.mark.parametrize("dialect", CACHED)
def test_companions_are_counted_as_the_session_is(dialect: str, tmp_path: Path) -> None:
    timeline = spender(dialect)
    companions = export(timeline, tmp_path)
    assert len(companions) == 2
    assert count(companions) == as_counted(timeline.spent.usage) != Usage()


def test_tokens_equal_a_calculation_by_hand(tmp_path: Path) -> None:
    timeline = spender("messages")
    by_hand = Usage(input=6 * 11, cache_read=6 * 7000, cache_write=6 * 500, cache_write_1h=6 * 200, output=6 * 40)
    assert timeline.spent.usage == by_hand
    own, errand = export(timeline, tmp_path)
    assert count([own]) == as_counted(Usage(input=55, cache_read=35_000, cache_write=2500, output=200))
    assert count([errand]) == as_counted(Usage(input=11, cache_read=7000, cache_write=500, output=40))


def test_a_line_is_counted_once_for_its_ids_and_not_at_all_if_its_shape_is_another(tmp_path: Path) -> None:
    used = {"input_tokens": 3, "output_tokens": 2}
    good: dict[str, Any] = {
        "timestamp": "2026-11-16T00:00:00.000Z",
        "requestId": "r1",
        "message": {"id": "m1", "content": [], "usage": used},
    }
    bad = [
        {**good, "timestamp": "2026-11-16T00:00:00.000000Z"},
        {**good, "requestId": None},
        {**good, "version": "next"},
        {**good, "message": {**good["message"], "content": "words"}},
        {**good, "message": {"id": "m2"}},
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b"\n".join(msgspec.json.encode(line) for line in [*bad, good, good, {**good, "requestId": "r2"}])
    )
    assert count([path]) == Usage(input=6, output=4)
