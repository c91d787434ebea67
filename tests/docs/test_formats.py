"""The format pages are tests: every example on them is parsed, and reads as the block behind it says."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

import blackbox
from blackbox.document.line import Line

PAGES = Path(__file__).resolve().parents[2] / "docs" / "formats"
BLOCK = re.compile(r"^## ([^\n]+)$|^```(bbox|rlog|expect)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (\w+) \| `(.+?)` \| (?:`(.+?)`|-) \| `(.+?)` \|$", re.MULTILINE)


class Example(NamedTuple):
    name: str
    log: str
    expected: str


def examples() -> list[Example]:
    found: list[Example] = []
    for page in ("bbox-1.md", "rlog-1.md"):
        section, log = "", ""
        for heading, language, body in BLOCK.findall((PAGES / page).read_text()):
            if heading:
                section = heading.lower().replace(" ", "-")
            elif language == "expect":
                found.append(Example(f"{page}-{section}-{len(found)}", log, body))
                log = ""
            else:
                assert log == "", f"{page}: an example without expectation before {body[:40]!r}"
                log = body
    return found


def view(line: Line) -> dict[str, Any]:
    """All that an expectation may name of a line."""
    fields = json.loads(msgspec.json.encode(line.event))
    fields |= fields.pop("arguments", {})
    common = {"line": line.number, "kind": line.kind.value, "id": line.id, "meta": dict(line.meta.raw)}
    return {"name": line.name, "event": type(line.event).__name__, "result": None, **fields, **common}


def agree(expected: Any, found: Any) -> bool:
    """Equal, where an expected object may leave out fields; metadata and arguments are named in full."""
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return bool(expected == found)
    whole = all(expected.get(key, found.get(key)) == found.get(key) for key in ("meta", "keyword"))
    return whole and all(key in found and agree(value, found[key]) for key, value in expected.items())


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
@pytest.mark.requirement("PROOF-04", "GROUND-09", "EXAMPLE-07")
def test_example_reads_as_the_page_says(example: Example) -> None:
    document = blackbox.parse(example.log)
    assert document.emit() == example.log.encode()
    lines = {line.number: view(line) for line in document.lines}
    for text in example.expected.splitlines():
        expected = json.loads(text)
        found = (
            {"header": document.header and document.header.fields}
            if "header" in expected
            else lines[expected["line"]]
        )
        assert agree(expected, found), f"{text}\nbut found\n{json.dumps(found, ensure_ascii=False)}"


def test_every_section_with_lines_has_an_example() -> None:
    assert len(examples()) >= 17


#: The patterns that the first description of the format printed.
PATTERNS = {
    "Header": r"^---$",
    "Meta": r"^# (.+)$",
    "User": r"^u: (.+)$",
    "Agent": r"^a: (.+)$",
    "ToolStart": r"^t!:(\w+)(?: id=(\w+))?(?: tid=(\w+))?(?: span=(\w+))? (.+?)→(.+)$",
    "ToolProg": r"^t~:(\w+)(?: id=(\w+))?(?: span=(\w+))? (.+)$",
    "Tool": (
        r"^t:(\w+)(?: id=(\w+))?(?: tid=(\w+))?(?: span=(\w+))?(?: step=(\d+))?(?: ts=([^\s]+))?"
        r"(?: attempt=(\d+(?:/\d+)?))?(?: latency_ms=(\d+))?(?: level=(\w+))? (.+?)(?:→(.+))?$"
    ),
    "Observation": r"^o:(?: id=(\w+))?(?: partial=)?(.+)?(?:→(.+))?$",
    "Skill": r"^s:(\S+) (\w+)(?:→(.+))?$",
    "Plan": r'^p:(\w+)(?: id=(\w+))?(?: "(.+)")?(?:→(.+))?$',
    "Mode": r"^m: ?(\w+)$",
    "Recall": r"^r: ?(.+?)→(.+)$",
    "Subagent": r'^x:(\w+)(?: id=(\w+))?(?: tid=(\w+))?(?: span=(\w+))? "(.+)"(?:→(.+))?$',
    "MCP": r"^c:(\w+)\.(\w+)(?: id=(\w+))? ?(.+)?→(.+)$",
    "Question": r'^q:(?: id=(\w+))? "(.+)"(?: options=\[(.+)\])?(?: multi=(\w+))?(?:→(.+))?$',
    "Lifecycle": r"^@(\w+)(?:-(\w+))?(?: id=(\w+))? ?(.*)$",
    "Phase": r"^@phase (\w+)(?: (.+))?$",
    "Compact": r'^@compact reason="([^"]+)"(?: tokens_before=(\d+))?(?: tokens_after=(\d+))?$',
    "Time": r"^# t=(\d{2}):(\d{2}):(\d{2})",
    "Budget": r"^# budget: \$([0-9.]+) remaining=\$([0-9.]+)",
    "Blob": r"@blob sha256=([a-f0-9]+)(?: bytes=(\d+))?(?: mime=(\S+))?",
    "Redacted": r"\[redacted:(\w+)\]",
    "Metrics": r"^# metrics(?: step=(\d+))? prompt_tokens=(\d+) completion_tokens=(\d+)",
    "StepTs": r"step=(\d+) ts=(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)",
    "Notes": r"^# notes: (.+)$",
    "Extra": r"extra\.(\w+)=([^\s]+)",
}
DIFFERENCES: list[tuple[str, str, str, str]] = ROW.findall(
    (PAGES / "bbox-1.md").read_text().partition("## The founding patterns")[2]
)


@pytest.mark.parametrize(
    ("name", "line", "groups", "reading"), DIFFERENCES, ids=[f"{row[0]}: {row[1]}" for row in DIFFERENCES]
)
@pytest.mark.requirement("LAYOUT-10")
def test_founding_pattern_differs_as_the_page_says(name: str, line: str, groups: str, reading: str) -> None:
    match = re.search(PATTERNS[name], line)
    assert (list(match.groups()) if match else None) == (json.loads(groups) if groups else None)
    found = view(blackbox.parse(line).lines[0])
    assert agree(json.loads(reading), found), found


@pytest.mark.requirement("LAYOUT-10")
def test_all_rows_of_the_table_are_read() -> None:
    table = (PAGES / "bbox-1.md").read_text().partition("## The founding patterns")[2]
    assert len(DIFFERENCES) == sum(line.startswith("| ") for line in table.splitlines()) - 1
    assert len(DIFFERENCES) > 30
