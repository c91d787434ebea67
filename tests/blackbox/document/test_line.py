"""One entry: its parts on demand, with the place each was read from."""

import pytest

import blackbox
from blackbox.document.line import Line
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import ResultKind


def first(text: str) -> Line:
    return blackbox.parse(text).lines[0]


def elements(text: str) -> list[tuple[str, str, int, int]]:
    return [(e.role, e.text, e.span.line, e.span.start) for e in first(text).elements]


@pytest.mark.requirement("ARGS-18")
def test_elements_of_a_call() -> None:
    assert elements('t:grep id=c1 "a b" k=v → [ok] fine step=2\n') == [
        ("prefix", "t:", 1, 1),
        ("name", "grep", 1, 3),
        ("metadata", "id=c1", 1, 8),
        ("argument", '"a b"', 1, 14),
        ("argument", "k=v", 1, 20),
        ("result", "[ok] fine", 1, 26),
        ("metadata", "step=2", 1, 36),
    ]


@pytest.mark.requirement("ARGS-18")
def test_elements_of_a_message_with_continuation_and_metrics() -> None:
    assert elements("a: Here. step=3 # metrics prompt=5\n  more\n") == [
        ("prefix", "a:", 1, 1),
        ("text", "Here.", 1, 4),
        ("metadata", "step=3", 1, 10),
        ("metrics", "prompt=5", 1, 27),
        ("continuation", "more", 2, 3),
    ]


@pytest.mark.requirement("ARGS-18")
def test_elements_of_a_lifecycle_line() -> None:
    assert elements("@phase exit approved=true # done\r\n") == [
        ("prefix", "@phase", 1, 1),
        ("argument", "exit", 1, 8),
        ("argument", "approved=true", 1, 13),
        ("comment", " done", 1, 28),
    ]


def test_elements_of_a_line_with_one_leading_space() -> None:
    assert elements(" m:auto\n") == [("prefix", "m:", 1, 2), ("name", "auto", 1, 4)]


@pytest.mark.requirement("LAYOUT-08")
def test_unknown_line_has_text_and_span() -> None:
    line = first("hello there\n")
    assert (line.kind, line.text) == (Kind.UNKNOWN, "hello there")
    assert elements("hello there\n") == [("text", "hello there", 1, 1)]


def test_columns_count_characters() -> None:
    assert elements("t:é 😀 x\n")[2:] == [("argument", "😀", 1, 5), ("argument", "x", 1, 7)]


@pytest.mark.requirement("LAYOUT-04")
def test_continuations_lose_their_indent_and_keep_the_rest() -> None:
    line = first("a: x\n  two\n    four\n\ttab\n  \n\t\tdeep\n")
    assert line.continuations == ["two", "  four", "tab", "", "\tdeep"]
    assert (line.number, line.last_number) == (1, 6)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("t:read x", "read"),
        ("@phase x", "phase"),
        ("@start", "start"),
        ("c:a.b", "a.b"),
        ("u: x", ""),
        ("o: id=1", ""),
    ],
)
def test_name(text: str, name: str) -> None:
    assert first(text).name == name


def test_text_is_everything_behind_the_prefix() -> None:
    assert first("t:read x → [ok]\n  body\n").text == "read x → [ok]\nbody"


def test_step_of_a_line() -> None:
    assert [first(text).step for text in ("u: x step=4", "u: x step=four", "u: step by step", "# anchor step=4")] == [
        4,
        None,
        None,
        None,
    ]


def test_result_kind_is_told_without_the_result() -> None:
    assert [first(text).result_kind for text in ("t:x → [ok]", "t:x → 5", "t:x", "u: → [ok]")] == [
        ResultKind.OK,
        ResultKind.TEXT,
        None,
        None,
    ]


@pytest.mark.requirement("ARGS-12")
@pytest.mark.parametrize(
    ("text", "truncated"),
    [
        ("t:read x → [200 lines]", True),
        ("t:read x → [200 lines] step=4\n  first line", True),
        ("o: id=1 → [ok] def main():...", True),
        ("a: I will look at the files and...", True),
        ("a: hm… step=4", True),
        ("a: hm... No.", False),
        ("t:read x → [4 files]", False),
        ("t:run ... → [ok]", False),
        ("a: one...\n  two", False),
    ],
)
def test_shortened_content_is_recognised(text: str, truncated: bool) -> None:
    assert first(text).is_truncated is truncated


@pytest.mark.requirement("REDACT-01")
@pytest.mark.parametrize(
    "text",
    [
        "t:read .env → KEY=[redacted:env_var]",
        "t:sh KEY=[redacted:env_var] → [ok]",
        "a: Set up with [redacted:env_var].",
    ],
)
def test_redaction_marker_survives_in_every_part(text: str) -> None:
    assert "[redacted:env_var]" in repr(first(text).event)


def test_line_shows_itself() -> None:
    assert repr(first("u: x")) == "Line(1, User, 'u: x')"
