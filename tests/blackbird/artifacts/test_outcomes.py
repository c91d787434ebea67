"""How a run ended: by the last evidence, which is named; without any, nobody knows."""

import pytest

from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Artifact, Command, Outcome, Status, Type
from blackbird.canon.model import Origin
from tests.blackbird.artifacts.stories import Story

PASSED = "..\n2 passed in 0.02s\n"
GO_FAILED = """\
--- FAIL: TestTide (0.00s)
    tide_test.go:9: want 3
--- FAIL: TestShip (0.00s)
    ship_test.go:4: want 5
FAIL
FAIL\texample.org/harbour\t0.004s
FAIL
"""
FAILED = "F.\nFAILED test_lamp.py::test_light - assert 1 == 2\n1 failed, 1 passed in 0.03s\n"


def outcomes(story: Story) -> list[Artifact]:
    artifacts = Builder().artifacts(story.timeline())
    story.check(artifacts)
    return [one for one in artifacts if one.type is Type.OUTCOME]


def ended(story: Story) -> tuple[Status, str | None]:
    (one,) = outcomes(story)
    assert isinstance(one.content, Outcome)
    return one.content.status, one.content.decided_by


@pytest.mark.requirement("ARTYPE-01")
def test_without_evidence_nobody_knows() -> None:
    story = Story()
    story.user("Light the lamps.")
    story.agent("They are lit, everything works!")
    assert ended(story) == (Status.UNKNOWN, None)


@pytest.mark.requirement("ARTYPE-01")
def test_a_test_that_failed_and_then_passed_is_a_success() -> None:
    story = Story()
    story.user("Mend the lamp.")
    story.shell("pytest -q", FAILED, 1)
    assert ended(story) == (Status.FAIL, "`pytest -q`: 1 failed, 1 passed")
    story.shell("pytest -q", PASSED)
    assert ended(story) == (Status.SUCCESS, "`pytest -q`: 2 passed")


def test_the_exit_code_of_a_pipe_is_not_the_tests() -> None:
    story = Story()
    story.shell("pytest -q | tail -1", FAILED, 0)
    assert ended(story)[0] is Status.FAIL


def test_a_hidden_end_without_words_is_no_evidence() -> None:
    story = Story()
    story.user("Build it.")
    story.shell("make build | tail -1", "some words\n", 0)
    assert ended(story) == (Status.UNKNOWN, None)


def test_the_users_last_word_counts_over_earlier_tests() -> None:
    story = Story()
    story.shell("pytest -q", PASSED)
    story.user("It still fails on my machine.")
    assert ended(story) == (Status.FAIL, "the user: still fails")
    story.user("Great, that fixed it!")
    assert ended(story) == (Status.SUCCESS, "the user: that fixed it")


def test_praise_with_a_condition_is_none() -> None:
    story = Story()
    story.user("If that works, continue. Is it working now?")
    assert ended(story) == (Status.UNKNOWN, None)


def test_what_a_client_says_in_the_users_name_decides_nothing() -> None:
    story = Story()
    story.user("Mend it.")
    story.user("Great, that fixed it!", Origin.CLIENT)
    story.user("Great, that fixed it!", Origin.SUMMARY)
    story.user("Great, that fixed it!", Origin.PACK)
    assert ended(story) == (Status.UNKNOWN, None)


def test_a_refused_call_at_the_end_blocks() -> None:
    story = Story()
    story.call("Bash", {"command": "rm -rf build"}, "", error=True, details={"is_rejected": True})
    assert ended(story) == (Status.BLOCKED, "the user refused Bash")


def test_an_unanswered_question_blocks_and_an_answered_one_does_not() -> None:
    story = Story()
    story.user("Add a store.")
    story.call("AskUserQuestion", {"questions": [{"question": "Which store?", "options": ["a", "b"]}]}, None)
    assert ended(story) == (Status.BLOCKED, "an open question: Which store?")
    story.shell("pytest -q", PASSED)
    assert ended(story)[0] is Status.SUCCESS


def test_an_offer_behind_a_success_is_no_obstacle() -> None:
    story = Story()
    story.user("Mend the lamp.")
    story.shell("pytest -q", PASSED)
    story.agent("The lamp is mended. Would you like me to also paint it?")
    assert ended(story)[0] is Status.SUCCESS


def test_a_question_without_any_success_blocks() -> None:
    story = Story()
    story.user("Mend the lamp.")
    story.agent("There are two ways. Should I replace the bulb or the wire?")
    assert ended(story)[0] is Status.BLOCKED


def test_the_harness_has_the_last_word() -> None:
    story = Story()
    story.run("run_1", "t1", "Mend the lamp")
    story.shell("pytest -q", FAILED, 1)
    story.state("outcome", {"status": "success"})
    story.end()
    assert ended(story) == (Status.SUCCESS, "the harness")


@pytest.mark.parametrize(
    ("code", "expected"), [(0, (Status.UNKNOWN, None)), (3, (Status.FAIL, "the agent ended with 3"))]
)
def test_of_an_agents_exit_code_only_a_no_counts(code: int, expected: tuple[Status, str | None]) -> None:
    story = Story()
    story.run("run_1", "t1")
    story.user("Mend the lamp.")
    story.end(code)
    assert ended(story) == expected


def test_each_run_has_its_own_outcome() -> None:
    story = Story()
    for number, output in enumerate((FAILED, PASSED), 1):
        story.run(f"run_{number}", "t1", "Mend the lamp")
        story.user("Mend it.")
        story.shell("pytest -q", output, None)
        story.end()
    found = outcomes(story)
    assert [(one.task, one.run, one.content.status) for one in found if isinstance(one.content, Outcome)] == [
        ("t1", "run_1", Status.FAIL),
        ("t1", "run_2", Status.SUCCESS),
    ]
    assert found[0].id != found[1].id


def content(story: Story) -> Outcome:
    (one,) = outcomes(story)
    assert isinstance(one.content, Outcome)
    return one.content


@pytest.mark.requirement("ARTYPE-03")
def test_files_are_those_that_edits_and_patches_changed() -> None:
    story = Story()
    edit = {"file_path": "/home/dev/crane/lamp.py", "old_string": "def dim(): 0", "new_string": "def light(): 1\n"}
    story.call("Edit", edit, "The file has been updated")
    story.call("Edit", {**edit, "file_path": "/home/dev/crane/dark.py"}, "String not found", error=True)
    patch = "*** Begin Patch\n*** Add File: quay.py\n+def sweep():\n+    pass\n*** End Patch\n"
    story.call("apply_patch", {"input": patch}, "Success")
    story.call("Write", {"file_path": "/home/dev/crane/new.md", "content": "a\nb"}, "File created", error=False)
    story.shell("rm old.py && echo hi > note.txt", "")
    files = {
        change.path: (change.action, change.added, change.removed, change.symbols) for change in content(story).files
    }
    assert files == {
        "lamp.py": ("edited", 2, 1, ("dim", "light")),
        "quay.py": ("created", 2, 0, ("sweep",)),
        "new.md": ("edited", 2, 0, ()),
        "old.py": ("deleted", None, None, ()),
        "note.txt": ("edited", None, None, ()),
    }


@pytest.mark.requirement("TOOLEV-04")
def test_each_change_names_the_turn_and_the_decision_behind_it() -> None:
    story = Story()
    story.user("Let's use lamp.py for the switch instead of quay.py.")
    call = story.call("Edit", {"file_path": "lamp.py", "old_string": "a", "new_string": "b"}, "ok")
    artifacts = Builder().artifacts(story.timeline())
    (outcome,) = (one for one in artifacts if isinstance(one.content, Outcome))
    assert isinstance(outcome.content, Outcome)
    (change,) = outcome.content.files
    (decision,) = (one for one in artifacts if one.type is Type.DECISION)
    assert (change.cause, change.decision) == (call, decision.id)
    assert change.request is not None


@pytest.mark.requirement("ARTYPE-04")
def test_commands_have_their_ends_and_rows_of_the_same_are_one() -> None:
    story = Story()
    story.shell("ls", "a\n")
    for _ in range(3):
        story.shell("pytest -q", FAILED, 1)
    story.shell("pytest -q", PASSED)
    assert [(one.line, one.kind, one.exit_code, one.ok, one.said, one.times) for one in content(story).commands] == [
        ("ls", "read", 0, True, None, 1),
        ("pytest -q", "test", 1, False, "1 failed, 1 passed", 3),
        ("pytest -q", "test", 0, True, "2 passed", 1),
    ]


@pytest.mark.requirement("ARTYPE-05")
def test_notable_errors_are_first_lines_each_once() -> None:
    story = Story()
    for _ in range(2):
        story.shell("pytest -q", FAILED, 1)
    story.call("Read", {"file_path": "gone.py"}, "File does not exist.\nmore", error=True)
    assert content(story).errors == (
        "FAILED test_lamp.py::test_light - assert 1 == 2",
        "File does not exist.",
    )


def test_what_failed_is_named_behind_the_first_lines_of_errors() -> None:
    story = Story()
    story.shell("go test ./...", GO_FAILED, 1)
    assert content(story).errors == (
        "tide_test.go:9: want 3",
        "--- FAIL: TestTide (0.00s)",
        "--- FAIL: TestShip (0.00s)",
    )


def test_an_exit_code_is_no_error_while_something_says_more() -> None:
    story = Story()
    story.call("Bash", {"command": "frobnicate"}, "Exit code 2\nno such dock", error=True)
    story.call("Bash", {"command": "frobnicate"}, "Exit code 3", error=True)
    assert content(story).errors == ("no such dock", "Exit code 3")


@pytest.mark.requirement("ARTYPE-02")
def test_bullets_are_put_together_by_rule() -> None:
    story = Story()
    story.user("Mend the lamp.")
    story.call("Edit", {"file_path": "lamp.py", "old_string": "a", "new_string": "b"}, "ok")
    story.shell("pytest -q", PASSED)
    story.agent("The lamp burns again. It needed a new wire.")
    found = content(story)
    assert found.description == "Mend the lamp."
    assert found.bullets == (
        "Changed lamp.py (+1 −1)",
        "`pytest -q`: 2 passed",
        "The lamp burns again.",
    )


def test_what_was_read_is_kept_as_well() -> None:
    story = Story()
    story.call("Read", {"file_path": "/home/dev/crane/lamp.py"}, "def light(): ...")
    story.shell("cat quay.py", "x = 1\n")
    assert content(story).read == ("lamp.py", "quay.py")


def test_a_command_is_one_value() -> None:
    assert Command(line="ls") == Command(line="ls", kind="other", exit_code=None, ok=None, said=None, times=1)


@pytest.mark.requirement("TOOLEV-03")
def test_git_has_the_last_word_on_what_changed() -> None:
    story = Story()
    story.run("run_1", "t1")
    story.state("run.context", {"root": "/home/dev"})
    call = story.call("Edit", {"file_path": "/home/dev/crane/lamp.py", "old_string": "a", "new_string": "b"}, "ok")
    story.call("Write", {"file_path": "/home/dev/crane/build/out.txt", "content": "x"}, "ok")
    files = [
        {"path": "crane/lamp.py", "added": 3, "removed": 1},
        {"path": "crane/made.py", "added": None, "removed": None, "untracked": True},
        {"path": "crane/mine.py", "added": 9, "removed": 9, "was_changed": True},
    ]
    story.state("run.changes", {"files": files})
    story.end()
    found = content(story).files
    assert [(one.path, one.action, one.added, one.removed, one.cause == call) for one in found] == [
        ("lamp.py", "edited", 3, 1, True),
        ("made.py", "created", None, None, False),
        ("build/out.txt", "edited", 1, 0, False),
    ]


def test_a_command_that_only_its_runner_tells_of_counts() -> None:
    story = Story()
    story.call("ci", {}, FAILED, error=True, details={"command": "pytest -q", "exit_code": 1})
    assert [(one.line, one.exit_code) for one in content(story).commands] == [("pytest -q", 1)]
    assert ended(story) == (Status.FAIL, "`pytest -q`: 1 failed, 1 passed")


def test_a_call_that_only_its_words_call_refused_did_not_happen() -> None:
    story = Story()
    story.shell("pytest -q", PASSED)
    words = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    story.call("Bash", {"command": "go build ./..."}, words, error=True)
    assert ended(story) == (Status.BLOCKED, "the user refused Bash")
    assert content(story).errors == ()
    assert [one.line for one in content(story).commands] == ["pytest -q"]


@pytest.mark.requirement("HARNESS-02")
def test_an_outcome_that_is_stated_of_a_task_that_nothing_ran_for_is_the_tasks_own() -> None:
    story = Story()
    story.state("task.add", {"title": "Mend the crane"}, task="crane")
    story.state("outcome", {"status": "blocked", "summary": "- no grease\n- no winch\n"}, task="crane")
    (found,) = outcomes(story)
    assert (found.task, found.run, found.title) == ("crane", None, "Mend the crane")
    assert isinstance(found.content, Outcome)
    assert (found.content.status, found.content.decided_by) == (Status.BLOCKED, "the harness")
    assert found.content.bullets == ("no grease", "no winch")
    assert [place.item for place in found.provenance] == ["outcome:2"]
    assert found.at == 2 * 1_000_000_000


@pytest.mark.requirement("HARNESS-02", "SCOPE-03")
def test_an_outcome_that_is_stated_of_a_task_is_that_of_its_last_run_so_far() -> None:
    story = Story()
    for run in ("run_1", "run_2"):
        story.run(run, "crane")
        story.shell("pytest -q", "1 failed", 1)
        story.end()
    story.run("run_3", "winch")
    story.end()
    story.state("outcome", {"status": "success", "summary": "it lifts"}, task="crane")
    story.run("run_4", "crane")
    story.end()
    assert [(one.run, one.content.status) for one in outcomes(story) if isinstance(one.content, Outcome)] == [
        ("run_1", Status.FAIL),
        ("run_2", Status.SUCCESS),
        ("run_3", Status.UNKNOWN),
        ("run_4", Status.UNKNOWN),
    ]


def test_what_a_run_is_described_as_counts_whenever_it_is_said() -> None:
    story = Story()
    story.run("run_1", "crane")
    story.state("run.describe", {"text": "Mend the crane"})
    story.end()
    assert [one.title for one in outcomes(story)] == ["Mend the crane"]


def test_a_tool_that_was_used_for_a_task_without_a_run_belongs_to_the_task() -> None:
    story = Story()
    story.run("run_1", "crane")
    story.told("crane", "make test", 0)
    story.end()
    story.told("crane", "make lint", 1)
    story.told("winch", "make test", 1)
    found = [(one.task, one.run, one.content.status) for one in outcomes(story) if isinstance(one.content, Outcome)]
    assert found == [
        ("crane", "run_1", Status.SUCCESS),
        ("crane", None, Status.FAIL),
        ("winch", None, Status.FAIL),
    ]


def test_a_run_that_its_user_stopped_last_is_no_success() -> None:
    story = Story()
    story.user("Mend the lamp.")
    story.shell("pytest -q", PASSED)
    story.agent("Now the other lamps.")
    story.mark("interrupt")
    assert ended(story) == (Status.UNKNOWN, "the user interrupted it")
    story.user("Go on.")
    story.shell("pytest -q", PASSED)
    assert ended(story) == (Status.SUCCESS, "`pytest -q`: 2 passed")


def test_what_a_harness_and_an_agent_both_say_is_said_once() -> None:
    story = Story()
    story.run("run_1", "lamp")
    story.agent("Mended the lamp. Tests pass.")
    story.state("outcome", {"status": "success", "summary": "Mended the lamp. Tests pass."})
    story.end()
    (one,) = outcomes(story)
    assert isinstance(one.content, Outcome)
    assert one.content.bullets == ("Mended the lamp. Tests pass.",)


def test_an_error_is_mended_when_the_same_command_goes_well_later() -> None:
    story = Story()
    story.shell("pytest -q", FAILED, 1)
    story.shell("make lamp", "make: *** No rule to make target 'lamp'.  Stop.", 2)
    story.shell("pytest -q", PASSED)
    (one,) = outcomes(story)
    assert isinstance(one.content, Outcome)
    assert len(one.content.errors) > len(one.content.mended) > 0
    assert all("test_lamp" in error for error in one.content.mended)
    story.shell("pytest -q", FAILED, 1)
    (one,) = outcomes(story)
    assert isinstance(one.content, Outcome)
    assert one.content.mended == ()
