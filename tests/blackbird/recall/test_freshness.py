"""Whether the memory is as far as the trace: a cheap look, which doubts rather than be wrong."""

from pathlib import Path

import pytest

from blackbird import derive
from blackbird.recall import freshness
from blackbird.store.memory import Reader
from tests.blackbird.recall.kept import Kept


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    found = Kept(tmp_path).record()
    derive.catch_up(found.home)
    return found


def is_fresh(kept: Kept) -> bool:
    with Reader(kept.home.derived) as reader:
        assert reader.memory is not None
        return freshness.is_up_to_date(reader.memory, kept.home)


def test_a_memory_that_has_all_of_the_trace_is_up_to_date(kept: Kept) -> None:
    assert is_fresh(kept)


def test_what_was_recorded_since_makes_it_old(kept: Kept) -> None:
    kept.say(kept.two, "And tomorrow?", "Nobody knows.")
    kept.save()
    assert not is_fresh(kept)
    derive.catch_up(kept.home)
    assert is_fresh(kept)


def test_a_segment_begun_anew_makes_it_old(kept: Kept) -> None:
    kept.book.rotate()
    kept.say(kept.two, "And tomorrow?", "Nobody knows.")
    kept.save()
    assert not is_fresh(kept)


def test_another_builder_makes_it_old(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "builder_version", lambda: "another")
    assert not is_fresh(kept)


@pytest.mark.parametrize("content", [None, b"", b"0" * 28])
def test_a_trace_that_does_not_say_how_far_it_is_leaves_a_doubt(kept: Kept, content: bytes | None) -> None:
    path = kept.home.trace / "synced"
    path.unlink() if content is None else path.write_bytes(content)
    assert not is_fresh(kept)
