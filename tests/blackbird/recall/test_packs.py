"""Packs by the read path: kept while nothing changes, and never without the rules of today."""

from pathlib import Path

import pytest

from blackbird import usage
from tests.blackbird.recall.kept import Kept

RULE = """
[[redaction.rule]]
id = "harbour"
kind = "harbour"
pattern = 'SQLite'
"""


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path).record()


def cached(kept: Kept) -> list[bool]:
    return [use.cached for use in usage.read(kept.home) if use.op == "context"]


@pytest.mark.requirement("PACK-14")
def test_a_pack_is_made_once_until_something_changes(kept: Kept) -> None:
    with kept.recall() as recall:
        first = recall.context(session="s1")
        assert recall.context(session="s1") == first
        recall.context(session="s1", budget=400)
        kept.say(kept.one, "Never write to the trace.", "I will not.")
        kept.save()
        assert "Never write to the trace." in recall.context(session="s1").text
    with kept.recall() as again:
        again.context(session="s1")
    assert cached(kept) == [False, True, False, False, True]


def test_a_pack_that_was_kept_before_there_was_a_rule_is_not_given_out(kept: Kept) -> None:
    with kept.recall() as recall:
        assert "SQLite" in recall.context(session="s1").text
    with kept.recall(RULE) as recall:
        pack = recall.context(session="s1")
        assert "SQLite" not in pack.text + str(pack.left_out)
        assert pack.tokens <= pack.budget
    assert cached(kept) == [False, False]


@pytest.mark.requirement("CONFIG-05")
def test_the_limits_and_the_counter_of_the_settings_hold(kept: Kept) -> None:
    with kept.recall('[context]\ndecisions_tokens = 0\ncounter = "o200k"\nbudget_tokens = 600\n') as recall:
        pack = recall.context(session="s1")
    assert (pack.counter, pack.budget) == ("o200k/rs-bpe-1", 600)
    assert "decisions" not in {section.name for section in pack.sections}
    assert "constraints" in {section.name for section in pack.sections}
