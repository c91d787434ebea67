"""What is known of a project from what was done in it."""

from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Fact
from tests.blackbird.artifacts.stories import Story


def facts(story: Story) -> list[tuple[str, str, int]]:
    artifacts = Builder().artifacts(story.timeline())
    story.check(artifacts)
    return [
        (one.content.name, one.content.value, one.content.times) for one in artifacts if isinstance(one.content, Fact)
    ]


def test_languages_layout_and_the_commands_that_worked() -> None:
    story = Story()
    for name in ("lamp", "quay"):
        story.call("Read", {"file_path": f"/home/dev/crane/src/{name}.py"}, "x = 1")
    story.call("Read", {"file_path": "/etc/hosts"}, "127.0.0.1")
    story.shell("cd /home/dev/crane && python -m pytest -q 2>&1 | tail -3", "1 failed in 0.1s\n", 0)
    for _ in range(2):
        story.shell("cd /home/dev/crane && python -m pytest -q 2>&1 | tail -3", "2 passed in 0.1s\n", 0)
    assert facts(story) == [
        ("language", "Python", 2),
        ("test_command", "python -m pytest", 2),
        ("layout", "src/", 2),
    ]


def test_nothing_is_known_of_a_project_that_nobody_touched() -> None:
    story = Story()
    story.user("Which languages do you know?")
    story.agent("Python, Rust and Go.")
    assert facts(story) == []
