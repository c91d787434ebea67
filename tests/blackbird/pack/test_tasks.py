"""What earlier tasks did, and what failed in them."""

import msgspec
import pytest

from blackbird.artifacts.model import Outcome, Status
from blackbird.pack.tasks import LAST_TASKS, implemented, warnings
from tests.blackbird.pack.given import MINUTE, left_out, material, ran, told
from tests.blackbird.retrieve.artifacts import NOW, artifact, outcome


def ended(status: Status, *bullets: str, **more: object) -> Outcome:
    return msgspec.structs.replace(outcome(*bullets), status=status, **more)


@pytest.mark.requirement("PACK-04", "PACK-10")
def test_a_task_is_one_line_whatever_its_runs() -> None:
    runs = [
        artifact(ended(Status.FAIL, "first", description="Add a crane"), task="crane", run="r1", at=NOW),
        artifact(
            ended(Status.SUCCESS, "a", "b", "c", "d", description="Add a crane"),
            task="crane",
            run="r2",
            at=NOW + MINUTE,
        ),
    ]
    (candidate,) = implemented(material(runs)).candidates
    assert candidate.forms[0] == "crane: success after 2 runs: Add a crane"
    assert candidate.bullets == ("a", "b", "c")
    assert candidate.ids == (runs[1].id, runs[0].id)


@pytest.mark.requirement("PACK-04")
def test_the_last_tasks_are_told_the_newest_first() -> None:
    many = [
        artifact(ended(Status.SUCCESS, description=f"Job {at}"), task=f"t{at}", at=NOW + at)
        for at in range(LAST_TASKS + 2)
    ]
    found = implemented(material(many))
    assert told(found)[:2] == ["t9: success: Job 9", "t8: success: Job 8"]
    assert len(found.candidates) == LAST_TASKS
    assert left_out(found) == {"t1 Job 1": "an older task", "t0 Job 0": "an older task"}


def test_an_end_that_nobody_knows_is_not_told() -> None:
    found = implemented(material([artifact(ended(Status.UNKNOWN, description="Look around"), task="look")]))
    assert told(found) == ["look: Look around"]


@pytest.mark.requirement("PACK-08")
def test_sessions_without_tasks_are_told_by_what_was_asked() -> None:
    own = artifact(ended(Status.SUCCESS, description="Add a crane"), at=NOW)
    other = artifact(ended(Status.BLOCKED, description="Add a dock"), session="s2", at=NOW + MINUTE)
    found = implemented(material([own], [[other]]))
    assert [(one.forms[0], one.session) for one in found.candidates] == [
        ("success: Add a crane", None),
        ("blocked: Add a dock", "s2"),
    ]


@pytest.mark.requirement("PACK-07")
def test_what_failed_is_warned_of() -> None:
    found = warnings(
        material(
            [
                artifact(
                    ended(
                        Status.FAIL,
                        description="Widen the dock",
                        decided_by="`pytest`: 1 failed",
                        commands=(ran("make dock", ok=False, said="no rule"), ran("ls", ok=None)),
                        errors=("KeyError: 'tide'", "second", "third"),
                    ),
                    task="dock",
                )
            ]
        )
    )
    assert told(found) == [
        "dock failed: `pytest`: 1 failed",
        "`make dock` failed: no rule",
        "error met: KeyError: 'tide'",
        "error met: second",
    ]
    assert [one.why for one in found.candidates[:3]] == [
        "it ended in fail",
        "it failed, and no later run of it went well",
        "an error of a run that did not end well",
    ]


@pytest.mark.requirement("PACK-07")
def test_what_went_well_later_is_no_warning() -> None:
    first = artifact(
        ended(Status.FAIL, description="Dock", commands=(ran("make  dock", ok=False),), errors=("boom",)),
        task="dock",
        run="r1",
        at=NOW,
    )
    again = artifact(
        ended(Status.SUCCESS, description="Dock", commands=(ran("make dock", ok=False), ran("make dock"))),
        task="dock",
        run="r2",
        at=NOW + MINUTE,
    )
    assert told(warnings(material([first, again]))) == ["error met: boom"]
    assert told(warnings(material([first])))[0] == "`make dock` failed with 1"


def test_how_a_command_ended_is_said_as_far_as_it_is_known() -> None:
    commands = (
        ran("make a", ok=False, said="no rule"),
        ran("make b", ok=False),
        msgspec.structs.replace(ran("make c", ok=False), exit_code=None),
    )
    found = warnings(material([artifact(ended(Status.UNKNOWN, commands=commands))]))
    assert sorted(told(found)) == ["`make a` failed: no rule", "`make b` failed with 1", "`make c` failed"]


def test_only_what_says_something_is_a_warning() -> None:
    commands = (
        ran("grep -r tide .", ok=False, kind="search"),
        ran("pytest tests", ok=False, said="1 failed"),
        ran("gh pr diff 1 -- a.py", ok=False, kind="vcs"),
    )
    well = artifact(ended(Status.SUCCESS, commands=commands))
    assert told(warnings(material([well]))) == ["`gh pr diff 1 -- a.py` failed with 1"]
    badly = artifact(ended(Status.FAIL, description="x", decided_by="`pytest tests`: 1 failed", commands=commands))
    assert told(warnings(material([badly]))) == [
        "an earlier run failed: `pytest tests`: 1 failed",
        "`gh pr diff 1 -- a.py` failed with 1",
    ]
    errors = ("Exit code 1", "<tool_use_error>no", "KeyError: 'tide'")
    unknown = artifact(ended(Status.UNKNOWN, errors=errors))
    assert told(warnings(material([unknown]))) == ["error met: KeyError: 'tide'"]


def test_the_same_command_is_known_whatever_cuts_its_output() -> None:
    commands = (ran("make dock 2>&1 | head -60", ok=False, kind="build"), ran("make dock | tail -5", kind="build"))
    assert told(warnings(material([artifact(ended(Status.UNKNOWN, commands=commands))]))) == []
    assert told(warnings(material([artifact(ended(Status.UNKNOWN, commands=commands[:1]))]))) == [
        "`make dock` failed with 1"
    ]


RULE = "Add sums. We must never use floats"


def test_a_warning_names_what_was_tried_and_turns_no_rule_around() -> None:
    failed = ended(Status.FAIL, description=RULE, decided_by="`make dock`: no rule")
    assert told(warnings(material([artifact(failed, task="sums")]))) == ["sums failed: `make dock`: no rule"]


def test_the_task_that_is_tried_again_is_not_forbidden() -> None:
    failed = ended(Status.FAIL, "`make`: no rule", "Half of it", description=RULE, decided_by="`make`: no rule")
    blocked = msgspec.structs.replace(failed, status=Status.BLOCKED, decided_by="the user refused Bash")
    given = material([artifact(failed, task="sums")], task="sums")
    assert told(warnings(given)) == ["earlier attempt of this task failed: `make`: no rule"]
    assert implemented(given).candidates[0].bullets == ("Half of it",)
    again = material([artifact(blocked, task="sums")], task="sums")
    assert told(warnings(again)) == ["earlier attempt of this task was blocked: the user refused Bash"]


@pytest.mark.parametrize("words", ["the harness", "the agent ended with 7", "the agent was ended by SIGTERM", None])
@pytest.mark.parametrize("task", ["sums", "other"])
def test_who_says_only_that_it_failed_warns_of_nothing(words: str | None, task: str) -> None:
    failed = ended(Status.FAIL, description=RULE, decided_by=words)
    assert told(warnings(material([artifact(failed, task="sums")], task=task))) == []


def test_what_done_before_says_is_not_said_again() -> None:
    failed = ended(Status.FAIL, "`make`: no rule", description=RULE, decided_by="`make`: no rule")
    assert told(warnings(material([artifact(failed, task="sums")]))) == []


def test_an_error_that_was_mended_is_no_warning() -> None:
    failed = ended(Status.FAIL, decided_by="the harness", errors=("boom", "bang"), mended=("boom",))
    assert told(warnings(material([artifact(failed)]))) == ["error met: bang"]
