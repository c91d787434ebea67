"""`blackbox explain`: every rule has its page."""

import json

import pytest

from blackbox.check.rules import all_rules
from tests.blackbox.cli.command import run

PAGE = """\
L003 ascii-arrow (warning)

A call line uses `->` where the result marker `→` seems to be meant.

Why it matters: Only `→` splits call from result; with `->` the result is read as arguments.

What to do: `blackbox fix --arrows` replaces it.

Breaks the rule:
    t:read src/auth.rs -> [186 lines]

Follows the rule:
    t:read src/auth.rs → [186 lines]

"""


@pytest.mark.parametrize("word", ["L003", "ascii-arrow"])
@pytest.mark.requirement("VALID-20")
def test_page_of_a_rule(word: str) -> None:
    assert run("explain", word) == (0, PAGE, "")


@pytest.mark.requirement("VALID-20")
def test_list_of_all_rules() -> None:
    done = run("explain")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        [rule.id, rule.severity.value, rule.name] for rule in all_rules().values()
    ]


@pytest.mark.requirement("VALID-20", "CMD-02", "CMD-03")
def test_json_is_one_object_a_rule_with_its_schema() -> None:
    done = run("explain", "--json")
    assert (done.code, done.err) == (0, "")
    rules = [json.loads(line) for line in done.out.splitlines()]
    assert [rule["id"] for rule in rules] == list(all_rules())
    for rule in rules:
        assert rule.pop("schema") == "blackbox.rule/1"
        assert rule.pop("whole") in (True, False)
        assert rule.keys() == {"id", "name", "severity", "summary", "why", "remedy", "bad", "good"}
        assert all(isinstance(value, str) for value in rule.values())


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("never-anwsered", "did you mean never-answered? blackbox explain lists all rules"),
        ("C03", "did you mean C003? blackbox explain lists all rules"),
        ("zzzzzzzzz", "blackbox explain lists all rules"),
    ],
)
@pytest.mark.requirement("CMD-04")
def test_unknown_rule_is_a_usage_error(word: str, remedy: str) -> None:
    assert run("explain", word) == (2, "", f"✗ there is no rule `{word}`\n  {remedy}\n")


@pytest.mark.requirement("CMD-03")
def test_unknown_rule_in_json() -> None:
    done = run("explain", "--json", "zzzzzzzzz")
    assert (done.code, done.out) == (2, "")
    assert json.loads(done.err) == {
        "code": "usage",
        "message": "there is no rule `zzzzzzzzz`",
        "remedy": "blackbox explain lists all rules",
    }
