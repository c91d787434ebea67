"""Start, end, checkpoints, pauses and plan mode: exact findings."""

import pytest

from tests.blackbox.check.logs import found, info

LONG = "u: Go on\n" * 43


@pytest.mark.requirement("VALID-11")
def test_long_log_without_start() -> None:
    assert found(LONG) == [info("F001", -7, "51 lines and no `@start`")]


@pytest.mark.requirement("VALID-11")
def test_log_of_fifty_lines_needs_no_start() -> None:
    assert found(LONG.removesuffix("u: Go on\n")) == []


@pytest.mark.requirement("VALID-12")
def test_start_without_end() -> None:
    assert found("u: First\n@start id=a\nu: Hello\n") == [info("F002", 2, "the session has no `@end`")]


@pytest.mark.parametrize("end", ["@end summary=done", "@rotate file=b.bbox"])
@pytest.mark.requirement("VALID-12")
def test_start_with_end(end: str) -> None:
    assert found(f"@start id=a\n{end}\n") == []


def test_end_without_start_is_fine() -> None:
    assert found("@end summary=done\n") == []


def test_events_after_the_end_are_told_once() -> None:
    body = "@start id=a\n@end summary=done\n# remark\n\nu: More\nu: And more\n"
    assert found(body) == [info("F004", 5, "the session ended at line 10")]


def test_comments_may_follow_the_end() -> None:
    assert found("@start id=a\n@end summary=done\n# tokens=3 tools=1\n") == []


def test_session_that_ended_twice() -> None:
    body = "@start id=a\n@end summary=done\nu: More\n@end summary=again\n"
    assert found(body) == [info("F004", 3, "the session ended at line 10")]


@pytest.mark.requirement("VALID-18", "TIME-01")
def test_no_checkpoint_for_four_hours_of_elapsed_time() -> None:
    body = "# t=00:00:00\n# t=04:00:00\n# t=04:00:01\na: Still here\n# t=08:00:02\n# t=08:00:03\n"
    assert found(body) == [
        info("F003", 3, "4.0 hours since the last checkpoint"),
        info("F003", 5, "4.0 hours since the last checkpoint"),
    ]


@pytest.mark.requirement("VALID-18")
def test_checkpoints_at_least_every_four_hours() -> None:
    assert (
        found("# t=00:00:00\n# t=03:00:00\n@checkpoint hour=3\n# t=06:59:00\n@checkpoint hour=7\n# t=10:00:00\n")
        == []
    )


def test_no_checkpoint_for_four_hours_of_wall_time() -> None:
    body = "u: One ts=2025-12-18T00:00:00Z\na: Two ts=2025-12-18T05:30:00Z\n"
    assert found(body) == [info("F003", 2, "5.5 hours since the last checkpoint")]


@pytest.mark.requirement("TIME-01")
def test_wall_time_is_not_asked_where_elapsed_time_is_given() -> None:
    body = "# t=00:00:00\nu: One ts=2025-12-18T00:00:00Z\n# t=00:10:00\na: Two ts=2025-12-18T05:30:00Z\n"
    assert found(body) == []


def test_checkpoint_on_the_wall_clock() -> None:
    body = (
        "u: One ts=2025-12-18T00:00:00Z\n@checkpoint hour=3 ts=2025-12-18T03:00:00Z\na: Two ts=2025-12-18T06:30:00Z\n"
    )
    assert found(body) == []


def test_pause_without_resume() -> None:
    assert found("@pause reason=ci\nu: Hello\n") == [info("F005", 1, "`@pause` without a `@resume`")]


def test_resume_without_pause() -> None:
    body = "@pause reason=ci\n@resume\n@resume\n"
    assert found(body) == [info("F005", 3, "`@resume` without a `@pause`")]


def test_phase_before_plan_mode() -> None:
    assert found("@phase explore\n") == [info("F006", 1, "`@phase` before any `m:plan`")]


def test_phase_in_another_mode() -> None:
    assert found("m:plan\n@phase explore\nm:auto\n@phase exit\n") == [info("F006", 4, "`@phase` in mode auto")]


def test_phase_in_a_session_that_starts_in_plan_mode() -> None:
    assert found("@phase explore\n", mode="plan") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("t:edit src/a.rs old=x → [ok]", "`edit` of src/a.rs in plan mode"),
        ("t!:Write path=src/a.rs → [ok]", "`Write` of src/a.rs in plan mode"),
        ("t:write file_path=b.md → [ok]", "`write` of b.md in plan mode"),
        ("t:patch files=[a, b] → [ok]", "`patch` of a, b in plan mode"),
        ("t:apply_patch input=x → [ok]", "`apply_patch` of a file in plan mode"),
    ],
)
@pytest.mark.requirement("PLANMODE-09")
def test_write_in_plan_mode(line: str, message: str) -> None:
    findings = [finding for finding in found(f"m:plan\n{line}\n") if finding.rule == "P001"]
    assert findings == [info("P001", 2, message)]


@pytest.mark.parametrize(
    "body",
    [
        "m:plan\np:file path=plan.md\nt:write plan.md → [ok]\n",
        "m:plan\nt:read a.rs → [3 lines]\n",
        "m:plan\nm:auto\nt:edit a.rs → [ok]\n",
    ],
)
@pytest.mark.requirement("PLANMODE-09")
def test_what_plan_mode_allows(body: str) -> None:
    assert found(body) == []


def explorers(count: int) -> str:
    return "".join(f'x:explore id=s{n} "look" → [started]\n' for n in range(1, count + 1))


def ends(count: int) -> str:
    return "".join(f"o: id=s{n} → [done]\n" for n in range(1, count + 1))


@pytest.mark.requirement("PLANMODE-10")
def test_more_than_three_explorers_at_once() -> None:
    assert found(explorers(5) + ends(5)) == [
        info("P002", 4, "4 explore sub-agents run at once"),
        info("P002", 5, "5 explore sub-agents run at once"),
    ]


@pytest.mark.requirement("PLANMODE-10")
def test_three_explorers_after_three_others() -> None:
    more = explorers(6).splitlines(keepends=True)[3:]
    assert found(explorers(3) + ends(3) + "".join(more) + ends(6).split("\n", 3)[3]) == []


def test_other_subagents_are_not_counted() -> None:
    body = "".join(f'x:worker id=w{n} "do" → [started]\no: id=w{n} → [done]\n' for n in range(5))
    assert found(explorers(3) + body + ends(3)) == []
