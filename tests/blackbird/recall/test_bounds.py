"""Long artifacts are cut where they are longest, and what was cut is said."""

import msgspec
import pytest

from blackbird.artifacts.model import Artifact, Change, Outcome, Provenance, Segment, Status, Type
from blackbird.canon.model import Evidence, Side
from blackbird.recall import bounds
from blackbird.recall.model import Cut
from blackbird.tokens import Plain

COUNTER = Plain()


def pointer(number: int) -> Provenance:
    evidence = Evidence(source=f"req_{number}", side=Side.REQUEST, start=0, end=4, segment=1, sequence=number)
    return Provenance(item=f"it_{number}", evidence=evidence, quote="words")


def made(content: Outcome | Segment, pointers: int = 1) -> Artifact:
    return Artifact(
        id="art_a",
        type=Type.OUTCOME if isinstance(content, Outcome) else Type.SEGMENT,
        session="s1",
        title="What was done",
        content=content,
        provenance=tuple(pointer(number) for number in range(pointers)),
        builder="1",
    )


OUTCOME = Outcome(
    status=Status.SUCCESS,
    description="Build the crane.",
    files=tuple(Change(path=f"src/part_{number}.py") for number in range(200)),
    final="It stands.",
)


def test_what_fits_stays_as_it_is() -> None:
    artifact = made(Segment(speaker="user", text="A few words.", position=0))
    assert bounds.bounded(artifact, COUNTER, bounds.MOST_TOKENS) == (artifact, ())
    assert bounds.bounded(made(OUTCOME), COUNTER, None) == (made(OUTCOME), ())


def test_the_longest_part_gives_way_and_short_ones_stay_whole() -> None:
    artifact, cut = bounds.bounded(made(OUTCOME), COUNTER, 1000)
    content = artifact.content
    assert isinstance(content, Outcome)
    assert (content.description, content.final, content.status) == ("Build the crane.", "It stands.", Status.SUCCESS)
    assert content.files == OUTCOME.files[: len(content.files)]
    assert cut == (Cut(part="files", kept=len(content.files), of=200, unit="entries"),)
    assert 800 < bounds.size(artifact, COUNTER) <= 1000


def test_a_long_text_is_cut_within_and_says_so() -> None:
    artifact, cut = bounds.bounded(made(Segment(speaker="user", text="word " * 2000, position=0)), COUNTER, 500)
    assert isinstance(artifact.content, Segment)
    assert artifact.content.text == ("word " * 2000)[: cut[0].kept] + " …"
    assert (cut[0].part, cut[0].of, cut[0].unit) == ("text", 10_000, "characters")
    assert bounds.size(artifact, COUNTER) <= 500 + COUNTER.count(" …") + 1


def test_pointers_are_left_out_too_and_never_all_of_them() -> None:
    artifact, cut = bounds.bounded(made(OUTCOME, pointers=300), COUNTER, 100)
    assert len(artifact.provenance) == 1
    assert {each.part: (each.kept, each.of) for each in cut} == {"files": (1, 200), "provenance": (1, 300)}


@pytest.mark.parametrize("most", [600, 1000, 3000])
def test_the_bound_holds_for_what_is_long_everywhere(most: int) -> None:
    outcome = msgspec.structs.replace(OUTCOME, final="said " * 5000, errors=("error " * 10,) * 100)
    artifact, _ = bounds.bounded(made(outcome, pointers=200), COUNTER, most)
    assert bounds.size(artifact, COUNTER) <= most + COUNTER.count(" …") + 1
