"""The requirement tables: read them, check them against the marks on the tests, and link the two.

Run as a script it prints how many requirements are met, planned and deferred; with `--link` it first rewrites
the `status` and `tests` of every entry from the marks it finds.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

ROOT = Path(__file__).resolve().parent.parent

STATUSES = ("met", "planned", "deferred")
PARTS = ("log", "log-tools", "recorder", "agents", "timeline", "artifacts", "memory", "viewer", "later")
SEEDS = ("000", "001", "002", "003", "004", "design")
TEXT_LIMIT = 200
LINE_LIMIT = 110

ID = re.compile(r"[A-Z]+-[0-9]{2}")
BLOCK = re.compile(r"^\[\[requirement\]\][^\n]*\n", re.MULTILINE)
ID_LINE = re.compile(r"""^id[ \t]*=[ \t]*["']([^"'\n]*)["']""", re.MULTILINE)
STATUS_LINE = re.compile(r"""^(status[ \t]*=[ \t]*)(["'][^"'\n]*["'])""", re.MULTILINE)
TESTS_LINE = re.compile(r"""^(tests[ \t]*=[ \t]*)(\[(?:[\s,]|\#[^\n]*|"[^"\n]*"|'[^'\n]*')*\])""", re.MULTILINE)

LINK = "run `python tests/requirements_table.py --link`"


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One testable statement; status, part and id are checked by `check_tables`, which can name the entry."""

    id: str
    text: str
    status: str
    part: str
    tests: list[str]
    ruling: int | None = None
    reason: str | None = None


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of requirements, all from one section of the founding documents."""

    section: str
    seed: str | list[str]
    requirement: list[Requirement]


class Problem(NamedTuple):
    """Something wrong in a table or on a test, and what to do about it."""

    file: str
    subject: str
    fault: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.subject}: {self.fault}; {self.remedy}"


class Mark(NamedTuple):
    """The claim of one test that it shows one requirement."""

    id: str
    test: str
    line: int


class Scan(NamedTuple):
    """What one source file under tests/ holds."""

    tests: frozenset[str]
    marks: list[Mark]
    problems: list[Problem]


# Tables


def decode(file: str, text: str) -> Table | Problem:
    """Read one table; a file that is not one is a problem, not an exception."""
    try:
        return msgspec.convert(tomllib.loads(text), Table)
    except tomllib.TOMLDecodeError as error:
        return Problem(file, "file", f"is not TOML ({error})", "correct the syntax")
    except msgspec.ValidationError as error:
        return Problem(file, "file", f"does not have the shape of a table ({error})", "see README.md beside it")


def check_tables(tables: Mapping[str, Table]) -> list[Problem]:
    """Check every entry by itself, and that no id stands twice."""
    problems: list[Problem] = []
    owner: dict[str, str] = {}
    for file, table in tables.items():
        problems += _check_head(file, table)
        for entry in table.requirement:
            problems += [Problem(file, entry.id, *fault) for fault in _faults(entry)]
            if entry.id in owner:
                remedy = "give one of them the next free number of its area"
                problems.append(Problem(file, entry.id, f"the id stands already in {owner[entry.id]}", remedy))
            owner.setdefault(entry.id, file)
    return problems


def _check_head(file: str, table: Table) -> Iterator[Problem]:
    if not table.section.strip():
        yield Problem(file, "section", "is empty", "name the section that the requirements come from")
    seeds = [table.seed] if isinstance(table.seed, str) else table.seed
    if not seeds or any(seed not in SEEDS for seed in seeds):
        yield Problem(file, "seed", f"{table.seed!r} is unknown", f"use one or more of {', '.join(SEEDS)}")
    if not table.requirement:
        yield Problem(file, "requirement", "there is none", "add one or remove the file")


def _faults(entry: Requirement) -> Iterator[tuple[str, str]]:
    """Yield each fault of one entry with its remedy."""
    if not ID.fullmatch(entry.id):
        yield f"the id {entry.id!r} is malformed", "write an upper-case area, a dash and two digits: LIFE-03"
    if len(entry.text.splitlines()) != 1 or entry.text != entry.text.strip():
        yield "the text is not one trimmed line", "state the requirement in one line"
    if len(entry.text) > TEXT_LIMIT:
        yield f"the text has {len(entry.text)} characters", f"shorten it to {TEXT_LIMIT} or split it"
    if entry.part not in PARTS:
        yield f"the part {entry.part!r} is unknown", f"use one of {', '.join(PARTS)}"
    if entry.ruling is not None and entry.ruling < 1:
        yield f"the ruling {entry.ruling} does not exist", "give its number, from 1 on, or remove the key"
    if len(set(entry.tests)) != len(entry.tests):
        yield "a test is listed twice", f"list it once, or {LINK}"
    if entry.status not in STATUSES:
        yield f"the status {entry.status!r} is unknown", f"use one of {', '.join(STATUSES)}"
    if entry.status == "met" and not entry.tests:
        yield "it is met without a test", f"mark the test that shows it and {LINK}, or set it to planned"
    if entry.status in ("planned", "deferred") and entry.tests:
        yield f"it is {entry.status} and names tests", f"{LINK}, which sets it to met, or remove the tests"
    if entry.status == "deferred" and not (entry.reason or "").strip():
        yield "it is deferred without a reason", "say in `reason` why it cannot be built or was ruled out"
    if entry.status != "deferred" and entry.reason is not None:
        yield f"it is {entry.status} and has a reason", "remove `reason`, which is for deferred ones alone"


# Marks


def scan(file: str, source: str) -> Scan:
    """Find the tests and the requirement marks of one source file, without importing it."""
    try:
        module = ast.parse(source, file)
    except (SyntaxError, ValueError) as error:
        return Scan(frozenset(), [], [Problem(file, "file", f"is not Python ({error})", "correct the syntax")])
    tests: set[str] = set()
    marks: list[Mark] = []
    problems: list[Problem] = []
    placed: set[ast.expr] = set()
    for node_id, decorators in _tests_of(file, module.body):
        tests.add(node_id)
        for decorator in decorators:
            if not isinstance(decorator, ast.Call) or not _is_mark(decorator.func):
                continue
            placed.add(decorator.func)
            ids = [
                argument.value
                for argument in decorator.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
            if decorator.keywords or len(ids) != len(decorator.args) or not ids:
                fault = f"the mark in line {decorator.lineno} does not list ids as plain strings"
                problems.append(Problem(file, node_id, fault, 'write @pytest.mark.requirement("AREA-01", ...)'))
            marks += [Mark(identifier, node_id, decorator.lineno) for identifier in ids]
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and _is_mark(node) and node not in placed:
            fault = f"the requirement mark in line {node.lineno} is not a called decorator of a collected test"
            problems.append(Problem(file, "mark", fault, "put it, with its ids, on a test or a Test class"))
    return Scan(frozenset(tests), marks, problems)


def _tests_of(
    prefix: str, body: Iterable[ast.stmt], inherited: Sequence[ast.expr] = ()
) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield the node id and the decorators, its classes' included, of each test that pytest collects."""
    if not Path(prefix.partition("::")[0]).name.startswith("test_"):
        return
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name.startswith("test"):
                yield f"{prefix}::{node.name}", [*inherited, *node.decorator_list]
            case ast.ClassDef() if node.name.startswith("Test"):
                yield from _tests_of(f"{prefix}::{node.name}", node.body, [*inherited, *node.decorator_list])
            case ast.If() | ast.Try():
                handlers = node.handlers if isinstance(node, ast.Try) else []
                nested = [*node.body, *node.orelse, *(inner for each in handlers for inner in each.body)]
                yield from _tests_of(prefix, nested, inherited)
            case _:
                pass


def _is_mark(node: ast.expr) -> bool:
    """Tell whether an expression is `pytest.mark.requirement` or `mark.requirement`."""
    if not isinstance(node, ast.Attribute) or node.attr != "requirement":
        return False
    owner = node.value
    return (isinstance(owner, ast.Name) and owner.id == "mark") or (
        isinstance(owner, ast.Attribute) and owner.attr == "mark"
    )


# Both directions


def check_links(tables: Mapping[str, Table], scans: Mapping[str, Scan]) -> list[Problem]:
    """Check that tables and marks agree: each listed test exists and is marked, each mark is listed."""
    problems = [problem for found in scans.values() for problem in found.problems]
    tests = {test for found in scans.values() for test in found.tests}
    marked = {(mark.id, mark.test) for found in scans.values() for mark in found.marks}
    listed: dict[str, list[str]] = {}
    for file, table in tables.items():
        for entry in table.requirement:
            listed.setdefault(entry.id, []).extend(entry.tests)
            for test in entry.tests:
                problems += [
                    Problem(file, entry.id, *fault) for fault in _broken(entry.id, test, scans, tests, marked)
                ]
    for file, found in scans.items():
        for mark in found.marks:
            subject = f"{mark.id} on {mark.test} (line {mark.line})"
            if mark.id not in listed:
                fault = "no table has this id"
                problems.append(Problem(file, subject, fault, "correct the id or add the requirement"))
            elif mark.test not in listed[mark.id]:
                fault = "the requirement's entry does not list this test"
                problems.append(Problem(file, subject, fault, LINK))
    return problems


def _broken(
    requirement: str, test: str, scans: Mapping[str, Scan], tests: set[str], marked: set[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one test named by one entry."""
    if "[" in test:
        yield f"{test} names a parameter set", "name the test without its brackets"
    elif test.partition("::")[0] not in scans:
        yield f"{test} lies in a file that does not exist", f"correct the path, or {LINK}"
    elif test not in tests:
        yield f"{test} is not a test of that file", f"correct the name, or {LINK}"
    elif (requirement, test) not in marked:
        yield (
            f"{test} does not carry the mark",
            f'add @pytest.mark.requirement("{requirement}") to it, or {LINK}',
        )


def link(text: str, claims: Mapping[str, Iterable[str]]) -> str:
    """Return a table's text with status and tests of every entry set from the claims, all else untouched."""
    table = msgspec.convert(tomllib.loads(text), Table)
    starts = [match.end() for match in BLOCK.finditer(text)]
    pieces = [text[: starts[0]] if starts else text]
    for start, end in pairwise([*starts, len(text)]):
        pieces.append(_link_block(text[start:end], claims))
    linked = "".join(pieces)
    expected = [_linked(entry, claims.get(entry.id, ())) for entry in table.requirement]
    if msgspec.convert(tomllib.loads(linked), Table).requirement != expected:
        raise ValueError("an entry is not laid out as README.md shows: id, status and tests each at a line's start")
    return linked


def _linked(entry: Requirement, claims: Iterable[str]) -> Requirement:
    tests = sorted(set(claims))
    unclaimed = "deferred" if entry.status == "deferred" else "planned"
    return msgspec.structs.replace(entry, status="met" if tests else unclaimed, tests=tests)


def _link_block(block: str, claims: Mapping[str, Iterable[str]]) -> str:
    identifier = ID_LINE.search(block)
    if identifier is None:
        return block
    tests = sorted(set(claims.get(identifier[1], ())))
    deferred = re.search(r"""^status[ \t]*=[ \t]*["']deferred["']""", block, re.MULTILINE)
    status = "met" if tests else "deferred" if deferred else "planned"
    block = STATUS_LINE.sub(lambda match: match[1] + _kept(match[2], status), block, count=1)
    return TESTS_LINE.sub(lambda match: match[1] + _kept(match[2], tests), block, count=1)


def _kept(written: str, wanted: str | list[str]) -> str:
    """Return the value as it is written where it says what is wanted, else the wanted one in our layout."""
    if tomllib.loads(f"value = {written}")["value"] == wanted:
        return written
    if isinstance(wanted, str):
        return f'"{wanted}"'
    inline = "[" + ", ".join(f'"{test}"' for test in wanted) + "]"
    if len("tests = ") + len(inline) <= LINE_LIMIT:
        return inline
    return "[\n" + "".join(f'    "{test}",\n' for test in wanted) + "]"


# The project's own tables


def read_tables(root: Path = ROOT) -> tuple[dict[str, Table], list[Problem]]:
    """Read all tables of a checkout, and tell which files are none."""
    tables: dict[str, Table] = {}
    problems: list[Problem] = []
    for path in sorted((root / "tests/requirements").glob("*.toml")):
        file = path.relative_to(root).as_posix()
        match decode(file, path.read_text(encoding="utf-8")):
            case Table() as table:
                tables[file] = table
            case Problem() as problem:
                problems.append(problem)
    return tables, problems


def read_scans(root: Path = ROOT) -> dict[str, Scan]:
    """Scan all Python files under tests/ of a checkout."""
    files = {path.relative_to(root).as_posix(): path for path in sorted((root / "tests").rglob("*.py"))}
    return {file: scan(file, path.read_text(encoding="utf-8")) for file, path in files.items()}


def check(root: Path = ROOT) -> list[Problem]:
    """Return everything that is wrong with the tables and marks of a checkout."""
    tables, problems = read_tables(root)
    return problems + check_tables(tables) + check_links(tables, read_scans(root))


def link_all(root: Path = ROOT) -> list[str]:
    """Link every table of a checkout that can be read, and return the files that changed.

    Nothing is linked while a mark or a test file cannot be read: its requirements would lose their tests.
    """
    claims: dict[str, list[str]] = {}
    for found in read_scans(root).values():
        if found.problems:
            raise ValueError(str(found.problems[0]))
        for mark in found.marks:
            claims.setdefault(mark.id, []).append(mark.test)
    changed: list[str] = []
    for file in read_tables(root)[0]:
        path = root / file
        before = path.read_bytes()
        try:
            after = link(before.decode("utf-8"), claims).encode("utf-8")
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error
        if after != before:
            temporary = path.with_suffix(".toml.new")
            temporary.write_bytes(after)
            temporary.replace(path)
            changed.append(file)
    return changed


def summary(tables: Mapping[str, Table]) -> str:
    """Return the numbers per file and per part as a text table."""
    files = {Path(file).stem: Counter(entry.status for entry in table.requirement) for file, table in tables.items()}
    entries = [entry for table in tables.values() for entry in table.requirement]
    parts = {part: Counter(entry.status for entry in entries if entry.part == part) for part in PARTS}
    total = {"total": Counter(entry.status for entry in entries)}
    lines: list[str] = []
    for title, rows in (("file", files), ("part", parts), ("", total)):
        lines.append(f"{title:<28}" + "".join(f"{status:>10}" for status in STATUSES))
        lines += [f"{name:<28}" + "".join(f"{row[status]:>10}" for status in STATUSES) for name, row in rows.items()]
        lines.append("")
    return "\n".join(lines).rstrip("\n")


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Print the summary, after linking when asked to; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description="Summarise the requirement tables, or link them to the tests.")
    parser.add_argument("--link", action="store_true", help="set status and tests of every entry from the marks")
    if parser.parse_args(arguments).link:
        try:
            changed = link_all(root)
        except ValueError as error:
            sys.stderr.write(f"not linked: {error}\n")
            return 1
        sys.stderr.writelines(f"linked {file}\n" for file in changed)
    sys.stdout.write(summary(read_tables(root)[0]) + "\n")
    problems = check(root)
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
