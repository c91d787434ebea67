"""Todos with their state: the list as it was last given, and single entries that are added and changed."""

from blackbird.artifacts.consolidate import consolidate
from blackbird.artifacts.model import OpenThread
from blackbird.artifacts.scene import Scene
from blackbird.artifacts.signals import tasks
from tests.blackbird.artifacts.stories import Story


def states(story: Story) -> dict[str, str]:
    artifacts = consolidate("harbour", tasks.claims(Scene(story.timeline())), "test")
    assert story.check(artifacts) >= len(artifacts)
    return {one.content.text: str(one.content.state) for one in artifacts if isinstance(one.content, OpenThread)}


def todo(story: Story, **entries: str) -> None:
    story.call("TodoWrite", {"todos": [{"content": text, "status": state} for text, state in entries.items()]}, "ok")


def test_the_last_state_counts() -> None:
    story = Story()
    todo(story, lamps="pending", quay="in_progress")
    todo(story, lamps="in_progress", quay="completed")
    assert states(story) == {"lamps": "in_progress", "quay": "done"}


def test_what_a_later_list_leaves_out_was_dropped_unless_it_was_done() -> None:
    story = Story()
    todo(story, lamps="pending", quay="completed", crane="pending")
    todo(story, crane="completed")
    assert states(story) == {"lamps": "dropped", "quay": "done", "crane": "done"}


def test_an_empty_list_drops_nothing() -> None:
    story = Story()
    todo(story, lamps="pending")
    todo(story)
    assert states(story) == {"lamps": "open"}


def test_the_list_of_a_subagent_is_another() -> None:
    story = Story()
    story.subagent("sub")
    todo(story, lamps="pending")
    story.call("TodoWrite", {"todos": [{"content": "quay", "status": "pending"}]}, "ok", thread="sub")
    assert states(story) == {"lamps": "open", "quay": "open"}


def test_single_entries_are_known_by_their_number() -> None:
    story = Story()
    story.call("TaskCreate", {"subject": "Light the lamps", "description": "all"}, "Task #3 created successfully")
    story.call("TaskCreate", {"subject": "Sweep the quay"}, "Task #4 created successfully")
    story.call("TaskUpdate", {"taskId": "3", "status": "completed"}, "Updated task #3 status")
    story.call("TaskUpdate", {"taskId": "9", "status": "completed"}, "no such task")
    assert states(story) == {"Light the lamps": "done", "Sweep the quay": "open"}


def test_a_plan_of_steps_is_a_list() -> None:
    story = Story()
    story.call(
        "update_plan", {"plan": [{"step": "Light", "status": "completed"}, {"step": "Sweep", "status": "pending"}]}
    )
    assert states(story) == {"Light": "done", "Sweep": "open"}
