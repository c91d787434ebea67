"""The corpus: what is hidden, what stays, and that no rule is without a case."""

from collections import Counter

import pytest

from blackbox.redaction.finders import BlockFinder, EntropyFinder, RuleFinder
from blackbox.redaction.redactor import Redactor
from blackbox.redaction.rules import Block, Rule, built_in
from tests.blackbox.redaction.corpus import Case, read_corpus

CASES = read_corpus()
SECRETS = [case for case in CASES if case.kinds]
LOOK_ALIKES = [case for case in CASES if not case.kinds]
REDACTOR = Redactor(on=["identity"])


def _name(case: Case) -> str:
    return f"line-{case.line}"


@pytest.mark.requirement("REDACT-05")
@pytest.mark.parametrize("case", SECRETS, ids=_name)
def test_secret_becomes_a_marker_of_its_kind(case: Case) -> None:
    assert REDACTOR.redact(case.text) == (case.clean, Counter(case.kinds))


@pytest.mark.requirement("REDACT-06")
@pytest.mark.parametrize("case", LOOK_ALIKES, ids=_name)
def test_look_alike_stays(case: Case) -> None:
    assert REDACTOR.redact(case.text) == (case.text, {})


def test_redacting_twice_changes_nothing() -> None:
    assert [case.line for case in SECRETS if REDACTOR.redact(case.clean) != (case.clean, {})] == []


def test_the_whole_corpus_as_one_text() -> None:
    # A key without its end would reach to the end of the next one.
    cases = [case for case in CASES if case.heading != "pem"]
    assert REDACTOR.redact("\n\n".join(case.text for case in cases)).text == "\n\n".join(case.clean for case in cases)


def test_the_corpus_is_large_enough() -> None:
    assert sum(len(case.kinds) for case in CASES) >= 300
    assert len(LOOK_ALIKES) >= 250
    assert all(case.heading.startswith("look-alikes: ") == (not case.kinds) for case in CASES)


@pytest.mark.requirement("REDACT-05")
def test_every_rule_finds_something_in_the_corpus() -> None:
    texts = [case.text.encode() for case in SECRETS]

    def finds(item: object) -> bool:
        if isinstance(item, Rule):
            return any(True for text in texts for _ in RuleFinder(item).find(text, None))
        finder = BlockFinder(item) if isinstance(item, Block) else EntropyFinder(item)  # type: ignore[arg-type] # the third
        return any(True for text in texts for _ in finder.find(text))

    assert [item.id for item in built_in().items if not finds(item)] == []
