"""Decisions are dated, numbered and in the index; every ruling that a requirement cites is there."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = ROOT / "docs" / "decisions"
INDEX = (DECISIONS / "README.md").read_text(encoding="utf-8")

_RECORD = re.compile(r"# (\d{4})\. (.+)\n\n\d{4}-\d{2}-\d{2} · (accepted|replaced by .+)\n")
_ROW = re.compile(r"^\| \[(\d{4})\]\(([\w.-]+)\) \| (.+) \|$", re.MULTILINE)


@pytest.mark.requirement("GROUND-07")
def test_every_record_is_numbered_dated_and_in_the_index() -> None:
    listed = [(number, name, title) for number, name, title in _ROW.findall(INDEX)]
    written = []
    for path in sorted(DECISIONS.glob("[0-9]*.md")):
        head = _RECORD.match(path.read_text(encoding="utf-8"))
        assert head is not None, f"{path.name} does not begin with its number, title, date and state"
        assert path.name.startswith(f"{head[1]}-")
        written.append((head[1], path.name, head[2]))
    assert listed == written
    assert [int(number) for number, _, _ in listed] == list(range(1, len(listed) + 1))


@pytest.mark.requirement("GROUND-07")
def test_every_ruling_that_a_requirement_cites_is_there() -> None:
    rulings = [int(number) for number in re.findall(r"^(\d+)\. \S", INDEX, re.MULTILINE)]
    assert rulings == list(range(1, 24))
    cited = {
        requirement["ruling"]
        for table in (ROOT / "tests" / "requirements").glob("*.toml")
        for requirement in tomllib.loads(table.read_text(encoding="utf-8"))["requirement"]
        if "ruling" in requirement
    }
    assert cited <= set(rulings)
