"""The summary of a session: what it was for and what it came to, by the word of its harness first."""

import pytest

from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Artifact, Summary, Type
from tests.blackbird.artifacts.stories import Story


def summary(story: Story) -> Artifact:
    artifacts = Builder().artifacts(story.timeline())
    story.check(artifacts)
    (found,) = (one for one in artifacts if one.type is Type.SUMMARY)
    return found


@pytest.mark.requirement("SCOPE-01")
def test_a_goal_alone_is_a_summary_and_leads_to_its_statement() -> None:
    story = Story()
    story.state("goal", {"text": "The lamps burn."})
    story.state("goal", {"text": "The crane lifts again."})
    found = summary(story)
    assert [place.item for place in found.provenance] == ["goal:2"]
    assert found.at == 2 * 1_000_000_000


@pytest.mark.requirement("HARNESS-03")
def test_a_checkpoint_is_part_of_the_summary_and_leads_to_its_statement() -> None:
    story = Story()
    story.state("goal", {"text": "The crane lifts again."})
    story.state("checkpoint", {"text": "Nothing is done yet."})
    story.run("run_1", "crane", "Mend the crane")
    story.end()
    story.state("checkpoint", {"text": " The crane is mended;\nthe winch is next. "})
    story.state("checkpoint", {"text": " "})
    found = summary(story)
    assert isinstance(found.content, Summary)
    assert found.content.checkpoint == "The crane is mended;\nthe winch is next."
    assert [place.item for place in found.provenance] == ["goal:1", "checkpoint:5", "run.start:3"]


def test_a_plan_alone_is_a_summary_that_leads_to_its_statements() -> None:
    story = Story()
    story.state("task.add", {"title": "Mend the crane"}, task="crane")
    story.state("task.add", {"title": "Oil the winch"}, task="winch")
    found = summary(story)
    assert isinstance(found.content, Summary)
    assert found.content.tasks == ("crane", "winch")
    assert [place.item for place in found.provenance] == ["task.add:1", "task.add:2"]


def test_a_session_of_which_nothing_is_said_has_none() -> None:
    story = Story()
    story.state("goal", {"text": 7})
    story.state("checkpoint", {})
    assert Builder().artifacts(story.timeline()) == []
