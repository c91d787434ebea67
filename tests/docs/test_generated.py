"""Generated pages are up to date, every command has one, and the JSON they document is the JSON that is printed."""

import hashlib
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from blackbox.vault.store import FOLDER
from blackbox.write import Writer

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "docs" / "cli"
#: What the examples do not show: odd headers, stray and unknown lines, rare comments, the rarer keys of results.
RARITIES = """\
---
format: bbox/1
id: sess_rare
repo_sha: 4f2a9c1
notes: >
  Two lines
  of notes
---
  stray

no prefix
@celebrate "done"
@init model=gannet-3
@rotate file=part2.bbox
# shelf=3
# status: Compacting
# condense range=5-10 detail=summary
# codex: {"type":"x"}
t:shell id=c1 a → [retry 2/3]
t:shell id=c1 a → [err: no]
t:read b → @blob sha256=ab12 bytes=4 mime=text/plain
t:grep c → [3 matches]
q: id=q1 "Go?" → [auto: yes, reason="late"]
q: id=q1 → [selected: yes]
"""
ESCAPED = """\
---
format: bbox/1
id: sess_escaped
repo_sha: 4f2a9c1
escape: 1
---
t:read a → one \\→ two
"""


#: A session that touches, spends, decides and contradicts itself, so that no list of the reports on it is empty.
BUSY = """\
---
format: bbox/1
id: sess_busy
repo_sha: 4f2a9c1
budget: $1
---

@start id=sess_busy ts=2026-03-01T09:00:00Z
u: Why does the tide job fail? step=1 ts=2026-03-01T09:00:05Z
a: I look. step=2 ts=2026-03-01T09:00:30Z # metrics prompt=900 completion=60 cached=10 cost=0.03
t:read id=call_1 .env step=2 → DB_PASSWORD=plum-tree-42
t:shell id=call_2 curl -s https://tides.example/v1 step=2 → [redacted:env_var]
t:edit id=call_3 src/tides.py step=3 → [ok]
c:forge.issue id=call_4 number=12 → [ok]
x:explore id=sub_1 "Who else?" → [done] path=gone.bbox
q: id=q_1 "Retry?" → [pending]
q: id=q_1 → [auto: yes, reason="it runs again soon"]
@end tokens=900 cost=$1.50 ts=2026-03-01T09:02:00Z
# tokens=800 cost=$1.40
"""
LONG = "a line of a long result\n" * 100
DIGITS = hashlib.sha256(LONG.encode()).hexdigest()


@pytest.fixture(scope="module")
def generate() -> Iterator[ModuleType]:
    # As when it is run: its own folder comes first.
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("generate")


def test_no_page_is_stale() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def page_of(program: str, name: str) -> str:
    folder = CLI if program == "blackbox" else CLI / program
    return (folder / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.requirement("CMD-09")
@pytest.mark.parametrize(
    ("program", "some", "group", "members"),
    [
        (
            "blackbox",
            {"validate", "stats", "parse", "fix", "explain", "tour"},
            "blobs",
            ["list", "verify", "extract", "gc"],
        ),
        (
            "blackbird",
            {"up", "down", "status", "env", "requests", "show", "trace", "config", "demo", "recorder-path"},
            "trace",
            ["status", "verify", "export", "clean", "pin", "unpin", "seal"],
        ),
    ],
)
def test_every_command_has_help_with_examples_and_a_page(
    generate: ModuleType, program: str, some: set[str], group: str, members: list[str]
) -> None:
    commands = generate.commands(program)
    assert set(commands) >= some
    assert generate.subcommands(group, program) == members
    for name, summary in commands.items():
        assert summary, f"`{program} {name}` has no help"
        page = page_of(program, name)
        for heading in ("## Examples", "## Exit codes"):
            assert heading in page, f"the page of `{program} {name}` has no `{heading}`"
        below = [f"{program} {name} {sub}" for sub in generate.subcommands(name, program)]
        with generate.scratch(""):
            shown = {words: generate.run(f"{words} --help") for words in [f"{program} {name}", *below]}
        for words in below or shown:
            assert re.search("Examples?:\n", shown[words]), f"the help of `{words}` has no Examples"
        assert [words for words, text in shown.items() if text.strip() not in page] == []


def test_every_option_named_json_is_documented(generate: ModuleType) -> None:
    for program in ("blackbox", "blackbird"):
        for name in generate.commands(program):
            page = page_of(program, name)
            assert ("--json" in page) == ("## JSON" in page), f"{program} {name}"


# What the pages say about JSON

Shape = dict[str, tuple[str, bool]]
_HEADING = re.compile(r"### (.+)")
_CELL = re.compile(r"(?<!\\)\|")
_KEY = re.compile(r"`(\w+)`( \(optional\))?")
_TYPED_KEY = re.compile(r"`(\w+)` ([^·]+?)(?: ·|$)")


class Documented:
    """The shapes in the tables of docs/cli, by name; events, comments and primitives by their own keys."""

    def __init__(self) -> None:
        self.shapes: dict[str, Shape] = {}
        self.events: dict[str, Shape] = {}
        self.comments: dict[str, Shape] = {}
        self.primitives: dict[str, Shape] = {}
        for page in sorted([*CLI.glob("*.md"), *CLI.glob("blackbird/*.md")]):
            self._read(page.read_text(encoding="utf-8"))

    def _read(self, page: str) -> None:
        heading = ""
        for line in page.split("\n"):
            match = _HEADING.fullmatch(line)
            if match is not None:
                heading = match[1]
            elif line.startswith("## "):
                heading = ""
            elif heading and line.startswith("| `"):
                self._take_row(heading, [cell.strip() for cell in _CELL.split(line)[1:-1]])

    def _take_row(self, heading: str, cells: list[str]) -> None:
        groups = {
            "`event` of a line, by `type`": self.events,
            "`event` of a comment, by `name`": self.comments,
            "`primitive` of a lifecycle line": self.primitives,
            "Objects inside events": self.shapes,
        }
        if heading in groups:
            shape = {key: (kind.strip(), cells[0] == "`result`") for key, kind in _TYPED_KEY.findall(cells[2])}
            for label in re.findall(r"`(\w+)`", cells[0]):
                groups[heading][label] = shape
        elif heading.startswith("`"):
            key = _KEY.fullmatch(cells[0])
            assert key is not None, cells
            self.shapes.setdefault(heading.strip("`"), {})[key[1]] = (cells[1], key[2] is not None)

    def faults(self, value: Any, kind: str, place: str) -> list[str]:
        """Where a value is not what the pages say."""
        if kind.startswith("("):
            kind = kind[1:-1]
        if kind.startswith("list of "):
            if not isinstance(value, list):
                return [f"{place}: {value!r} is no list"]
            return [fault for i, item in enumerate(value) for fault in self.faults(item, kind[8:], f"{place}[{i}]")]
        if kind.startswith("map of "):
            if not isinstance(value, dict):
                return [f"{place}: {value!r} is no map"]
            return [fault for key in value for fault in self.faults(value[key], kind[7:], f"{place}.{key}")]
        first, _, others = kind.partition(" or ")
        if others:
            found = self.faults(value, first, place)
            return found and self.faults(value, others, place)
        if first in _PLAIN:
            return [] if _PLAIN[first](value) else [f"{place}: {value!r} is no {first}"]
        shape = self.shapes.get(first) or self.comments.get(first)
        assert shape is not None, f"{place}: the pages describe no `{first}`"
        return self.shape_faults(value, shape, place)

    def shape_faults(self, value: Any, shape: Shape, place: str) -> list[str]:
        """Where an object has other keys or types than its table."""
        if not isinstance(value, dict):
            return [f"{place}: {value!r} is no object"]
        undocumented = [f"{place}.{key} is not documented" for key in value.keys() - shape.keys()]
        required = {key for key, (_, optional) in shape.items() if not optional}
        missing = [f"{place}.{key} is documented and not there" for key in required - value.keys()]
        wrong = [
            f for key in value.keys() & shape.keys() for f in self.faults(value[key], shape[key][0], f"{place}.{key}")
        ]
        return undocumented + missing + wrong


_PLAIN: dict[str, Callable[[Any], bool]] = {
    "any": lambda _: True,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "decimal": lambda value: isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value) is not None,
}


@pytest.fixture(scope="module")
def documented() -> Documented:
    return Documented()


@pytest.fixture
def logs(generate: ModuleType) -> Iterator[int]:
    """A folder to run commands in, with the examples and two logs of rare things; how many logs these are."""
    page = f"```bbox rare.bbox\n{RARITIES}```\n\n```bbox escaped.bbox\n{ESCAPED}```\n"
    with generate.scratch(page):
        yield sum(path.suffix in (".bbox", ".rlog") for path in Path().rglob("*"))


@pytest.mark.requirement("CMD-02", "CMD-03")
@pytest.mark.parametrize(
    ("line", "schema"),
    [
        ("blackbox validate . --json", "blackbox.validate/1"),
        ("blackbox stats . --json", "blackbox.stats/1"),
        ("blackbox fix . --all --json", "blackbox.fix/1"),
        ("blackbox explain --json", "blackbox.rule/1"),
    ],
)
def test_json_lines_are_as_documented(
    generate: ModuleType, documented: Documented, logs: int, line: str, schema: str
) -> None:
    printed = [json.loads(text) for text in generate.run(line).splitlines()]
    assert len(printed) >= logs
    for value in printed:
        assert value["schema"] == schema
        assert documented.faults(value, schema, schema) == []


@pytest.fixture
def sessions(generate: ModuleType, logs: int) -> None:
    """The same folder with a session that fills all reports, a log with blobs, a damaged store and companions."""
    for folder in ("busy", "kept", "broken"):
        Path(folder).mkdir()
    Path("busy/busy.bbox").write_text(BUSY, encoding="utf-8")
    with Writer.create("kept/session.bbox", id="sess_kept", repo_sha="4f2a9c1") as session:
        session.tool("read", "notes.md", result=LONG)
    Path("kept", FOLDER, "0" * 64).write_bytes(b"")
    Path("kept", FOLDER, f".{DIGITS}.stopped.tmp").write_bytes(b"a line")
    Path("broken", FOLDER).mkdir()
    Path("broken", FOLDER, DIGITS).write_bytes(b"not what it was")
    Path("broken", FOLDER, "notes.txt").write_bytes(b"foreign")
    Path("broken/rare.bbox").write_text(RARITIES.replace("sha256=ab12", "sha256=ab12cd34"), encoding="utf-8")
    generate.run("blackbox export busy/busy.bbox --format rlog --output pair/busy")
    Path("pair/torn.jsonl").write_bytes(Path("pair/busy.jsonl").read_bytes()[:-20])
    Path("pair/empty.jsonl").write_bytes(b"")


@pytest.mark.requirement("CMD-02", "CMD-03")
@pytest.mark.parametrize(
    ("line", "code", "schema", "filled"),
    [
        ("blackbox tail busy/busy.bbox --no-follow --json", 0, "blackbox.tail/1", "name id step ts"),
        ("blackbox grep tide -C 1 busy --json", 0, "blackbox.grep/1", "name id step ts context"),
        (
            "blackbox audit . --json",
            0,
            "blackbox.audit/1",
            "session files hosts mcp sensitive redactions secrets decisions commands unread",
        ),
        (
            "blackbox cost . --json",
            0,
            "blackbox.cost/1",
            "source steps tools models agents subagents tokens cost token_totals cost_totals contradictions",
        ),
        ("blackbox apm pair --json", 0, "blackbox.apm/1", "sources sessions bad_lines unknown_files"),
        ("blackbox redact busy --json", 0, "blackbox.redact/1", "total counts found"),
        ("blackbox redact --rules --json", 0, "blackbox.redaction-rules/1", "classes rules"),
        (
            "blackbox export busy examples --format compact --output small --json",
            0,
            "blackbox.export/1",
            "written losses redactions",
        ),
        ("blackbox blobs list . --json", 0, "blackbox.blobs-list/1", "blobs"),
        ("blackbox blobs verify broken --json", 4, "blackbox.blobs-verify/1", "damaged missing foreign"),
        ("blackbox blobs verify kept/session.bbox --json", 0, "blackbox.blobs-verify/1", "whole"),
        (
            f"blackbox blobs extract {DIGITS[:8]} kept --output notes.md --json",
            0,
            "blackbox.blobs-extract/1",
            "sha256 bytes output",
        ),
        (
            "blackbox blobs gc kept --older-than 0s --write --json",
            0,
            "blackbox.blobs-gc/1",
            "blobs leftovers kept_mentioned removed",
        ),
    ],
)
@pytest.mark.usefixtures("sessions")
def test_json_of_sessions_is_as_documented(
    generate: ModuleType, documented: Documented, line: str, code: int, schema: str, filled: str
) -> None:
    printed = [json.loads(text) for text in generate.run(line, code).splitlines()]
    for value in printed:
        assert value["schema"] == schema
        assert documented.faults(value, schema, schema) == []
    assert [key for key in filled.split() if not any(value[key] for value in printed)] == []


def test_every_shape_is_on_a_page(generate: ModuleType, documented: Documented) -> None:
    assert sorted(generate.shapes().keys() - documented.shapes.keys()) == []


@pytest.mark.requirement("CMD-03")
@pytest.mark.usefixtures("sessions")
def test_damage_is_told_as_documented(generate: ModuleType, documented: Documented) -> None:
    told = json.loads(generate.run(f"blackbox blobs extract {DIGITS} broken --output out.txt --json", 4))
    assert documented.faults(told, "error", "extract") == []
    assert told["code"] == "integrity"


@pytest.mark.requirement("CMD-03")
def test_errors_are_as_documented(generate: ModuleType, documented: Documented, logs: int) -> None:
    for line, code in [
        ("blackbox validate nowhere.bbox --json", 3),
        ("blackbox stats nowhere.bbox --json", 3),
        ("blackbox parse nowhere.bbox --json", 3),
        ("blackbox stats --colour --json", 2),
        ("blackbox fix rare.bbox --write --json", 2),
        ("blackbox explain nothing --json", 2),
    ]:
        told = generate.run(line, code).splitlines()[0]
        assert documented.faults(json.loads(told), "error", line) == []


@pytest.mark.requirement("CMD-02")
def test_parse_prints_one_array_of_documented_rows(generate: ModuleType, documented: Documented, logs: int) -> None:
    keys: set[str] = set()
    seen: dict[str, set[str]] = {"events": set(), "comments": set(), "primitives": set(), "result": set()}
    for row in json.loads(generate.run("blackbox parse . --json")):
        place = f"{row['file']}:{row['line']}"
        keys |= row.keys()
        assert documented.faults(row, "row", place) == []
        assert event_faults(documented, row, place, seen) == []
    assert documented.shapes["row"].keys() == keys
    assert documented.events.keys() == seen["events"]
    assert documented.comments.keys() == seen["comments"]
    assert documented.primitives.keys() == seen["primitives"]
    assert documented.shapes["result"].keys() == seen["result"]


def event_faults(documented: Documented, row: dict[str, Any], place: str, seen: dict[str, set[str]]) -> list[str]:
    """Where the `event` of a row is not what its table says; what was looked up goes to `seen`."""
    event = row.get("event")
    if event is None:
        return [] if row["type"].startswith(("header_", "continuation", "unknown")) else [f"{place} has no event"]
    if row["type"] == "comment":
        seen["comments"].add(row["name"])
        return documented.shape_faults(event, documented.comments[row["name"]], place)
    seen["events"].add(row["type"])
    seen["result"] |= (event.get("result") or {}).keys()
    faults = documented.shape_faults(event, documented.events[row["type"]], place)
    if "primitive" in event:
        name = event["name"].partition("-")[0]
        name = name if name in documented.primitives else "other"
        seen["primitives"].add(name)
        faults += documented.shape_faults(event["primitive"], documented.primitives[name], place)
    return faults


def test_types_of_rows_are_documented(generate: ModuleType, logs: int) -> None:
    page = (CLI / "parse.md").read_text(encoding="utf-8")
    types = {row["type"] for row in json.loads(generate.run("blackbox parse . --json"))}
    assert len(types) == 24
    assert [name for name in sorted(types) if f"`{name}`" not in page] == []
