"""The order of types holds for all weights that can be had."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbird.artifacts.model import Artifact, Content, Fact, Summary, ThreadState, Type
from blackbird.retrieve.model import Asked
from blackbird.retrieve.search import search
from blackbird.retrieve.weights import RESULTS, RULINGS, Limits, Weights
from blackbird.store.writing import Writing
from blackbird.tokens import Plain
from tests.blackbird.retrieve.artifacts import (
    DAY,
    NOW,
    artifact,
    constraint,
    decision,
    new_memory,
    outcome,
    said,
    thread,
)

WORDS = st.lists(
    st.sampled_from(("parser", "token", "cache", "keychain", "retry")), min_size=1, max_size=4, unique=True
)
FACTORS = st.floats(0.05, 5)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Writing:
    return new_memory(tmp_path_factory.mktemp("weights") / "derived")


def of_every_type(text: str, ages: list[int]) -> list[Artifact]:
    contents: list[Content] = [
        decision(text),
        constraint(text),
        outcome(text),
        thread(text),
        Summary(bullets=(text,)),
        said(text),
    ]
    return [artifact(each, at=NOW - age * DAY) for each, age in zip(contents, ages, strict=True)]


def level(kind: Type) -> int:
    return 0 if kind in RULINGS else 1 if kind in RESULTS else 2


STEPS = st.floats(1.01, 3)


@st.composite
def tunings(draw: st.DrawFn) -> Weights:
    """Any weights that can be had."""
    oldest, transcript = draw(st.floats(0.3, 1)), draw(FACTORS)
    result = transcript / oldest * draw(STEPS)
    ruling = result / oldest * draw(STEPS)
    return Weights(
        transcript=transcript,
        result=result,
        ruling=ruling,
        oldest=oldest,
        stale=draw(st.floats(0.01, 0.99)) * transcript * oldest / ruling,
        half_life=draw(st.floats(0.1, 1000)),
        saturation=draw(FACTORS),
        dilution=draw(st.floats(0, 3)),
        length=draw(st.integers(1, 500)),
        paths=draw(FACTORS),
        symbols=draw(FACTORS),
        errors=draw(FACTORS),
    )


@pytest.mark.requirement("SEARCH-05")
@given(WORDS, st.lists(st.integers(0, 10_000), min_size=6, max_size=6), tunings())
@settings(max_examples=80, deadline=None)
def test_no_tuning_inverts_the_order_of_types(
    memory: Writing, words: list[str], ages: list[int], weights: Weights
) -> None:
    memory.put("s1", of_every_type(" ".join(words), ages))
    found = search(memory, Asked(text=words[0]), Plain(), weights=weights)
    assert [level(card.type) for card in found.cards] == [0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"ruling": 1.4},
        {"ruling": 1.45},
        {"ruling": 2.4},
        {"result": 1.0},
        {"transcript": 1.4},
        {"transcript": 0.0},
        {"stale": 0.6},
        {"stale": 0.0},
        {"oldest": 0.0},
        {"oldest": 1.1},
        {"oldest": 0.5},
        {"half_life": 0.0},
        {"session": 1.3},
        {"project": 0.9},
        {"window": (0.25, 0.5)},
        {"window": (1.0,)},
        {"window": (0.5, 0.0)},
        {"lent": 0.0},
        {"lent": 1.0},
        {"saturation": 0.0},
        {"paths": 0.0},
        {"dilution": -1.0},
        {"length": 0},
    ],
)
@pytest.mark.requirement("SEARCH-05")
def test_weights_that_would_invert_an_order_cannot_be_had(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="weights: "):
        Weights(**wrong)  # type: ignore[arg-type]


def test_what_does_not_hold_goes_behind_what_does(tmp_path: Path) -> None:
    text = "the parser"
    with new_memory(tmp_path / "derived") as memory:
        memory.put(
            "s1",
            [
                artifact(decision(text, superseded_by="art_x"), key="stale"),
                artifact(thread(text, ThreadState.DROPPED)),
                artifact(said(text), at=NOW - 10_000 * DAY),
                artifact(Fact(name="tool", value=text), at=None),
            ],
        )
        assert [card.state for card in search(memory, Asked(text="parser"), Plain()).cards] == [
            "",
            "",
            "superseded",
            "dropped",
        ]


def test_the_share_of_common_words_has_a_floor() -> None:
    limits = Limits()
    assert [limits.most(documents) for documents in (0, 600, 100_000, 1_000_000)] == [2000, 2000, 2000, 20_000]
