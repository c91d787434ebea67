"""The last lines of a run."""

from typing import Any

import pytest

from blackbird.launch import telling

TOLD: dict[str, Any] = {
    "session": "s",
    "task": "t",
    "run": "r",
    "duration_ms": 14_230,
    "calls": 6,
    "active": 0,
    "failed": {},
    "request_bytes": 422_500,
    "response_bytes": 18_700,
    "masked": {},
    "tunnels": 0,
    "trace": "/home/trace",
    "problem": None,
    "pack": None,
    "outcome": None,
    "exit_code": 0,
    "signal": None,
}
RECORDED = ["recorded   session s, task t, run r", "           in /home/trace", "next       blackbird session show s"]


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({}, "6 calls, 412.6 KiB up, 18.3 KiB down, 14.2 s"),
        ({"calls": 1}, "1 call, 412.6 KiB up, 18.3 KiB down, 14.2 s"),
        (
            {"failed": {"529": 2, "429": 1, "upstream_closed": 1}},
            "6 calls (4 failed: 429, 2 x 529, upstream_closed), 412.6 KiB up, 18.3 KiB down, 14.2 s",
        ),
        ({"active": 2}, "6 calls, 2 not ended, 412.6 KiB up, 18.3 KiB down, 14.2 s"),
        ({"exit_code": 3}, "6 calls, 412.6 KiB up, 18.3 KiB down, 14.2 s, exit code 3"),
        ({"exit_code": None, "signal": "SIGTERM"}, "6 calls, 412.6 KiB up, 18.3 KiB down, 14.2 s, SIGTERM"),
        ({"duration_ms": 3_725_000}, "6 calls, 412.6 KiB up, 18.3 KiB down, 1 h 2 min"),
    ],
)
def test_what_passed_is_in_the_headline(changes: dict[str, Any], headline: str) -> None:
    assert telling.farewell({**TOLD, **changes}) == ("✓", headline, RECORDED)


def test_masked_secrets_and_tunnels_have_lines() -> None:
    masked = {"masked": {"openai_key": 1, "aws_access_key_id": 2}, "tunnels": 3}
    assert telling.farewell({**TOLD, **masked})[2] == [
        "masked     2 x aws_access_key_id, openai_key",
        "tunnelled  3 connections to other hosts, unseen",
        *RECORDED,
    ]


def test_no_call_is_told_plainly() -> None:
    mark, headline, below = telling.farewell({**TOLD, "calls": 0, "tunnels": 1})
    assert (mark, headline) == (
        "!",
        "No call of this run was seen in 14.2 s; blackbird doctor looks for the reason",
    )
    assert below == ["tunnelled  1 connection to other hosts, unseen"]


def test_what_could_not_be_counted_is_not_called_nothing() -> None:
    mark, headline, below = telling.farewell({**TOLD, "calls": 0, "problem": "the disk is gone"})
    assert (mark, headline, below) == ("!", "What passed could not be counted: the disk is gone", RECORDED)


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        ({"status": "unknown", "decided_by": None, "tests": [], "files": []}, None),
        ({"status": "unknown", "decided_by": None, "tests": [], "files": ["a"]}, "unknown, 1 file changed"),
        (
            {
                "status": "success",
                "decided_by": "the last test",
                "tests": [
                    {"line": "pytest", "ok": False, "said": None},
                    {"line": "pytest", "ok": True, "said": "3 passed"},
                ],
                "files": ["a", "b"],
            },
            "success (the last test), tests: 3 passed, 2 files changed",
        ),
        (
            {
                "status": "success",
                "decided_by": "`pytest` said: 3 passed",
                "tests": [{"line": "pytest", "ok": True, "said": "3 passed"}],
                "files": [],
            },
            "success (`pytest` said: 3 passed)",
        ),
        (
            {"status": "fail", "decided_by": None, "tests": [{"line": "x", "ok": None, "said": None}], "files": []},
            "fail, tests: ended, nobody knows how",
        ),
    ],
)
def test_the_outcome_has_a_line_if_it_says_anything(outcome: dict[str, Any], line: str | None) -> None:
    _, _, below = telling.farewell({**TOLD, "outcome": outcome})
    found = [each for each in below if each.startswith("outcome")]
    assert found == ([] if line is None else [f"outcome    {line}"])
