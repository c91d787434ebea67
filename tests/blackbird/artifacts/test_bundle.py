"""The evidence of a task, within a bound and the same each time."""

import msgspec
import pytest

from blackbird.artifacts.build import Builder
from blackbird.artifacts.bundle import Bundle, bundle
from blackbird.artifacts.model import Artifact, Type
from tests.blackbird.artifacts.stories import Story


def made(story: Story) -> tuple[Bundle, list[Artifact]]:
    artifacts = Builder().artifacts(story.timeline())
    outcome = next(one for one in artifacts if one.type is Type.OUTCOME)
    return bundle(outcome, artifacts), artifacts


def busy(turns: int) -> Story:
    story = Story()
    story.run("run_1", "t1", "Mend the lamp")
    story.user("Mend the lamp.")
    for number in range(turns):
        story.agent(f"Turn {number}: " + "word " * 400)
        story.shell(f"./try {number}", f"error: no light {number}\n", 1)
        story.call("Edit", {"file_path": f"lamp{number}.py", "old_string": "a", "new_string": "b"}, "ok")
    return story


@pytest.mark.requirement("ENRICH-01")
def test_it_has_the_task_the_turns_the_commands_the_files_and_the_errors() -> None:
    found, artifacts = made(busy(1))
    assert (found.session, found.task, found.run, found.description) == ("harbour", "t1", "run_1", "Mend the lamp")
    assert found.turns[0].startswith("Turn 0: word")
    assert [command.line for command in found.commands] == ["./try 0"]
    assert [change.path for change in found.files] == ["lamp0.py"]
    assert found.errors == ("error: no light 0",)
    assert found.left_out == {}
    assert set(found.sources) <= {one.id for one in artifacts}


@pytest.mark.requirement("ENRICH-01")
def test_it_is_bounded_and_says_what_was_left_out() -> None:
    found, _ = made(busy(80))
    assert len(msgspec.json.encode(found)) < 40_000
    assert found.left_out["files"] == 40
    assert found.turns[-1].startswith(("Turn 79", "word"))


@pytest.mark.requirement("ENRICH-02")
def test_the_same_state_gives_the_same_bundle() -> None:
    assert made(busy(3))[0] == made(busy(3))[0]


def test_only_an_outcome_has_one() -> None:
    _, artifacts = made(busy(1))
    other = next(one for one in artifacts if one.type is Type.SEGMENT)
    with pytest.raises(TypeError, match="no outcome"):
        bundle(other, artifacts)
