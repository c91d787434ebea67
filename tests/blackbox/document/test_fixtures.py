"""The tricky logs of `fixtures/log`: each is read as it always was, and comes out unchanged."""

from pathlib import Path

import pytest

import blackbox
from blackbox.document.line import Line
from blackbox.syntax.kinds import PREFIXES, Kind

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "log"
SIGNS = {kind: prefix.rstrip(":") for kind, prefix in PREFIXES.items()}
SIGNS |= {Kind.BLANK: ".", Kind.UNKNOWN: "?", Kind.CONTINUATION: "_"}
#: The session's id or None, the problems of the header, and a sign for each entry with `+` for each continuation.
READINGS: dict[str, tuple[str | None, list[str], str]] = {
    "bad-utf8.bbox": ("sess_fixture", [], "u t+"),
    "binary.bbox": (None, [], "? ? ?"),
    "bom.bbox": ("sess_fixture", [], "u"),
    "compact.bbox": ("sess_fixture", [], "u a t t r c s x p m t c"),
    "control.bbox": ("sess_fixture", [], "o u u"),
    "crlf-mixed.bbox": ("sess_fixture", [], "u u u . t"),
    "crlf.bbox": ("sess_fixture", [], ". u+ t m @"),
    "cut-in-a-character.bbox": ("sess_fixture", [], "u"),
    "empty-ids.bbox": ("", [], "t o t q @"),
    "empty.bbox": (None, [], ""),
    "escaped-not.bbox": ("sess_fixture", [], "u t t"),
    "escaped.bbox": ("sess_escape", [], "u u a t t q td @ u u #"),
    "header-bad-yaml.bbox": ("sess_bad", ["yaml"], "u"),
    "header-blank-lines-before.bbox": ("sess_fixture", [], "u"),
    "header-duplicate.bbox": ("two", ["duplicate-key"], "u"),
    "header-empty.bbox": (None, [], "u"),
    "header-foreign.bbox": ("x", [], "u"),
    "header-hostile.bbox": (None, ["yaml"], "u"),
    "header-late.bbox": (None, [], "u ? ? ? ? ? ? ? ? u"),
    "header-later.bbox": ("sess_fixture", [], "u ? ? ? ? u ?"),
    "header-missing.bbox": (None, [], "u t"),
    "header-next-version.bbox": ("x", [], "u ?"),
    "header-only.bbox": ("sess_fixture", [], ""),
    "header-scalars.bbox": ("20260102", [], "u"),
    "header-unclosed.bbox": ("sess_open", [], "u a"),
    "imported-shape.rlog": ("", [], ". @ @ th a t! o o # x x ? @"),
    "indents.bbox": ("sess_fixture", [], "u u+++++ . . u . _ _ . . t+ t++ ?+ #+"),
    "lifecycle.bbox": ("sess_fixture", [], "@ @ @ @ @ @phase @ @ @ @ @ ? ?"),
    "line-numbers.rlog": ("1f0c2b7e", [], "t! o t! o t! o"),
    "metadata.bbox": ("sess_fixture", [], "u u u u u a a a t t t a a th o"),
    "no-final-newline.bbox": ("sess_fixture", [], "u a"),
    "nul.bbox": ("sess_fixture", [], "u ? t"),
    "odd-quotes.bbox": ("sess_fixture", [], "t t t t t t t q"),
    "one-newline.bbox": (None, [], "."),
    "results.bbox": ("sess_fixture", [], " ".join("t" * 24)),
    "spaces.bbox": (None, [], ". . ."),
    "unknown.bbox": ("sess_fixture", [], " ".join("?" * 11)),
}
LOGS = sorted(path for path in FOLDER.iterdir() if path.suffix != ".md")


def sign(line: Line) -> str:
    return SIGNS[line.kind] + "+" * len(line.more or ())


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
@pytest.mark.requirement("BYTES-01")
def test_log_is_read_and_comes_out_unchanged(path: Path) -> None:
    document = blackbox.read_document(path)
    assert document.emit() == path.read_bytes()
    header = document.header
    problems = [problem.name for problem in header.problems] if header else []
    assert (header.id if header else None, problems, " ".join(map(sign, document.lines))) == READINGS[path.name]
    for line in document.lines:
        repr((line.event, line.elements, line.meta))


def test_every_reading_has_its_log() -> None:
    assert set(READINGS) == {path.name for path in LOGS}


def results(name: str) -> list[str | None]:
    found = (line.result for line in blackbox.read_document(FOLDER / name).lines)
    return [result.text if result else None for result in found]


@pytest.mark.requirement("ARGS-06", "ARGS-07")
def test_odd_quotes_leave_every_result_in_place() -> None:
    assert results("odd-quotes.bbox") == [
        "[ok]",
        "[ok]",
        "[ok]",
        "[2 matches]",
        '[ok] "quoted" rest',
        "[ok]",
        "[ok]",
        "[pending]",
    ]


@pytest.mark.requirement("ARGS-08", "META-02")
def test_results_of_a_converter() -> None:
    assert results("line-numbers.rlog") == [
        "[running]",
        "[ok]      1→use std::io;      2→fn main() -> io::Result<()> { ...",
        "[running]",
        '[error] exit 1 → see "log" id=5 here',
        "[running]",
        '[ok] {"id":7,"title":"a → b"}...',
    ]


def test_empty_ids_are_empty_text() -> None:
    assert [line.id for line in blackbox.read_document(FOLDER / "empty-ids.bbox").lines] == [""] * 5


@pytest.mark.requirement("BYTES-07")
@pytest.mark.parametrize(
    ("name", "unknown"),
    [("imported-shape.rlog", ["[the terminal crashed here - continued by hand]"]), ("line-numbers.rlog", [])],
)
def test_only_free_text_is_unknown_in_what_converters_write(name: str, unknown: list[str]) -> None:
    lines = blackbox.read_document(FOLDER / name).lines
    assert [line.source for line in lines if line.kind in (Kind.UNKNOWN, Kind.CONTINUATION)] == unknown
