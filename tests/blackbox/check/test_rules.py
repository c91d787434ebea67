"""Every rule has a page, an example that breaks it and one that does not, and a checker that uses it."""

import re
from pathlib import Path

import pytest

import blackbox.check
from blackbox.check.findings import Severity
from blackbox.check.rules import Rule, all_rules, look_up, rule_named
from blackbox.check.validator import Report, validate_bytes
from blackbox.redaction.redactor import Redactor
from blackbox.vault.presence import Held, Presence

RULES = list(all_rules().values())
USED = re.compile(r'rule_named\(\s*"([^"]+)"')
MAPPED = re.compile(r"_PROBLEMS = \{(.*?)\}", re.DOTALL)

#: Where in its bad example each rule is broken: the line within the example.
LINES = {
    "H001": 1, "H002": 1, "H003": 5, "H004": 1, "H005": 3, "H006": 2, "H007": 2, "H008": 4, "H009": 4, "H010": 4,
    "H011": 5, "H012": 1, "H013": 1, "H014": 5,
    "T001": 1, "T002": 1, "T003": 6, "T004": 1, "T005": 1, "T006": 1, "T007": 1, "T008": 1,
    "L001": 1, "L002": 3, "L003": 1, "L004": 1, "L005": 1, "L006": 1, "L007": 1, "L008": 1, "L009": 1, "L010": 7,
    "L011": 1, "L012": 2,
    "C001": 2, "C002": 1, "C003": 1, "C004": 2, "C005": 1, "C006": 1, "C007": 1, "C008": 1, "C009": 1,
    "S001": 2, "S002": 2, "S003": 1, "S004": 1, "S005": 2, "S006": 1, "S007": 2,
    "F001": -7, "F002": 1, "F003": 3, "F004": 3, "F005": 1, "F006": 1,
    "P001": 2, "P002": 4,
    "B001": 2, "B002": 3, "B003": 1,
    "K001": 1, "K002": 1, "K003": 1, "K004": 1, "K005": 1,
}  # fmt: skip


#: How the blobs of the examples stand, by the one digit their hash is made of; others have no store.
BLOBS = {"a": Held(Presence.MISSING), "c": Held(Presence.WHOLE, 12), "d": Held(Presence.DAMAGED, 12)}
REDACTOR = Redactor()


def look_at(digits: str) -> Held:
    return BLOBS[digits[0]] if digits == digits[0] * 64 and digits[0] in BLOBS else Held(Presence.NO_STORE)


def report_of(example: bytes) -> Report:
    return validate_bytes(
        example,
        look_up=lambda name: "no such file" if name.startswith("missing") else None,
        look_at=look_at,
        redactor=REDACTOR,
    )


def lines_broken(rule: Rule, example: bytes) -> list[int]:
    report = report_of(example)
    return [finding.line for finding in report.findings if finding.rule == rule.id]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
@pytest.mark.requirement("VALID-20")
def test_bad_example_breaks_the_rule_where_expected(rule: Rule) -> None:
    before = 0 if rule.whole else 8
    assert set(lines_broken(rule, rule.example("bad"))) == {LINES[rule.id] + before}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
@pytest.mark.requirement("VALID-20")
def test_good_example_follows_the_rule(rule: Rule) -> None:
    assert lines_broken(rule, rule.example("good")) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_good_example_has_no_errors_and_warnings_at_all(rule: Rule) -> None:
    findings = report_of(rule.example("good")).findings
    assert [finding for finding in findings if finding.severity is not Severity.INFO] == []


def test_every_rule_is_used_and_every_rule_used_exists() -> None:
    sources = [path.read_text() for path in Path(blackbox.check.__path__[0]).glob("*.py")]
    used = {name for source in sources for name in USED.findall(source)}
    mapped = {
        name for source in sources for block in MAPPED.findall(source) for name in re.findall(r'"([a-z-]+)"', block)
    }
    names = {rule.name for rule in RULES}
    assert used <= names
    assert names - used <= mapped


def test_ids_and_names_are_unique_and_well_formed() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES) == len(LINES)
    assert all(re.fullmatch(r"[A-Z]\d{3}", rule.id) for rule in RULES)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name) for rule in RULES)


def test_every_page_is_complete() -> None:
    assert all(rule.summary.endswith(".") and rule.why.endswith((".", ":")) and rule.remedy for rule in RULES)


def test_rule_is_looked_up_by_id_or_name_in_any_case() -> None:
    wanted = rule_named("never-answered")
    assert look_up("C003") == look_up(" c003 ") == look_up("never-answered") == wanted
    assert look_up("C999") is None


def test_examples_spell_bytes_and_sizes() -> None:
    assert rule_named("bad-utf8").example("bad").endswith(b"u: caf\xe9\n")
    assert len(rule_named("long-line").example("bad")) > 1 << 20
    assert rule_named("start-missing").example("bad").count(b"\n") == 58
