"""Any bytes are read or refused, with one exception: the fuzz target's exercise on small changes of the corpus."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.blackbird.trace.exercise import ROOT, exercise, seeds

SEEDS = list(seeds())


@pytest.mark.requirement("TRACE-14")
def test_the_corpus_is_read() -> None:
    assert len(SEEDS) > 40
    for seed in SEEDS:
        exercise(seed)


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    exercise(data)


@pytest.mark.requirement("TRACE-14")
@settings(max_examples=200)
@given(st.sampled_from(SEEDS), st.data())
def test_the_corpus_with_bytes_changed_cut_out_and_put_in(seed: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(seed)))
    end = data.draw(st.integers(start, min(len(seed), start + 40)))
    exercise(seed[:start] + data.draw(st.binary(max_size=40)) + seed[end:])


def test_the_target_is_there() -> None:
    assert (ROOT / "tests" / "fuzz" / "fuzz_wal.py").is_file()
