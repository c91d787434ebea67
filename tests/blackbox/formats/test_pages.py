"""The pages of the forms are tests: the second block of each pair is what `export` makes of the first."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from blackbox.formats import convert
from blackbox.formats.recognise import Form

PAGES = Path(__file__).resolve().parents[3] / "docs" / "formats"
NAMES = ("jsonl-1.md", "compact-1.md", "companion-1.md")
BLOCK = re.compile(r"^```(bbox|rlog|compact|jsonl|companion)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LOG_HEADER = re.compile(r"---\n.*?^---\n\n?", re.MULTILINE | re.DOTALL)
_JSON_HEADER = re.compile(r'\{"(?:t":"---"|type":"system","message":\{"subtype":"init").*\n')


class Example(NamedTuple):
    name: str
    given: str
    form: str
    expected: str


def examples() -> list[Example]:
    found: list[Example] = []
    for page in NAMES:
        blocks = BLOCK.findall((PAGES / page).read_text(encoding="utf-8"))
        assert len(blocks) % 2 == 0, f"{page}: a block without the one behind it"
        for (_, given), (form, expected) in zip(blocks[::2], blocks[1::2], strict=True):
            found.append(Example(f"{page}-{len(found)}", given, form, expected))
    return found


def body(text: str) -> str:
    """A session without its header."""
    return _JSON_HEADER.sub("", _LOG_HEADER.sub("", text, count=1), count=1)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
@pytest.mark.requirement("JSONL-01", "COMPACT-01", "DUAL-09", "DUAL-10")
def test_example_is_what_export_writes(example: Example) -> None:
    _, reading = convert.read(example.given.encode(), example.name)
    written = convert.write(reading.flight, Form(example.form))
    (text,) = written.texts.values()
    has_header = body(example.expected) != example.expected
    assert (text if has_header else body(text)) == example.expected
    _, again = convert.read(example.expected.encode(), example.name)
    assert len(again.flight.entries) == len(reading.flight.entries)


def test_every_page_has_its_examples() -> None:
    assert len(examples()) == 8
