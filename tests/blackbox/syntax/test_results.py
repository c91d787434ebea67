"""What stands behind an arrow."""

import pytest

from blackbox.syntax.results import Blob, Result, ResultKind, parse_result
from blackbox.syntax.tokens import REDACTED


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        ("[ok]", ResultKind.OK, ""),
        ("[ok] 128 tests passed", ResultKind.OK, "128 tests passed"),
        ("[done] all read", ResultKind.OK, "all read"),
        ("[err: permission denied]", ResultKind.ERR, "permission denied"),
        ("[err: exit [1] in build]", ResultKind.ERR, "exit [1] in build"),
        ("[error]", ResultKind.ERR, ""),
        ("[error] no such file", ResultKind.ERR, "no such file"),
        ("[skip]", ResultKind.SKIP, ""),
        ("[running]", ResultKind.RUNNING, ""),
        ("[started]", ResultKind.STARTED, ""),
        ("[launched]", ResultKind.STARTED, ""),
        ("[pending]", ResultKind.PENDING, ""),
        ("[ ok ]", ResultKind.OK, ""),
    ],
)
@pytest.mark.requirement("RESULT-01", "RESULT-02", "RESULT-03", "RESULT-04", "RESULT-05", "RESULT-11")
def test_shorthand(text: str, kind: ResultKind, detail: str) -> None:
    result = parse_result(text)
    assert (result.kind, result.detail, result.text) == (kind, detail, text)


def test_word_tells_done_from_ok() -> None:
    assert [parse_result(text).word for text in ("[done]", "[ok]", "[launched]")] == ["done", "ok", "launched"]


@pytest.mark.requirement("RESULT-06")
def test_retry() -> None:
    result = parse_result("[retry 2/3]")
    assert (result.kind, result.attempt, result.attempts) == (ResultKind.RETRY, 2, 3)
    assert parse_result("[retry 2]").attempts is None


@pytest.mark.parametrize(
    ("text", "kind", "count", "unit"),
    [
        ("[4 files]", ResultKind.COUNT, 4, "files"),
        ("[186 lines]", ResultKind.LINES, 186, "lines"),
        ("[1 line]", ResultKind.LINES, 1, "line"),
        ("[12 matches]", ResultKind.COUNT, 12, "matches"),
        ("[3 matches from steps 45, 67, 89]", ResultKind.COUNT, 3, "matches from steps 45, 67, 89"),
        ("[no matches]", ResultKind.COUNT, 0, "matches"),
        ("[186]", ResultKind.COUNT, 186, None),
    ],
)
@pytest.mark.requirement("RESULT-07", "RESULT-08")
def test_counts(text: str, kind: ResultKind, count: int, unit: str | None) -> None:
    result = parse_result(text)
    assert (result.kind, result.count, result.unit) == (kind, count, unit)


@pytest.mark.requirement("RESULT-09", "BLOB-01")
def test_blob_pointer() -> None:
    result = parse_result("@blob sha256=9f86d081 bytes=48219 mime=text/x-diff")
    assert (result.kind, result.blob) == (ResultKind.BLOB, Blob("9f86d081", 48219, "text/x-diff"))


@pytest.mark.parametrize(
    ("text", "blob"),
    [
        ("@blob sha256=9f86", Blob("9f86")),
        ("@blob sha256=9f86 bytes=7", Blob("9f86", 7)),
        ("@blob sha256=9f86 mime=a/b", Blob("9f86", None, "a/b")),
        ("@blob sha256=xyz!", Blob("xyz!")),
        ("@blob sha256=", Blob("")),
    ],
)
@pytest.mark.requirement("BLOB-01")
def test_parts_of_a_blob_pointer_may_be_missing_or_odd(text: str, blob: Blob) -> None:
    assert parse_result(text).blob == blob


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$185.35",
        "approved",
        "[5 6]",
        "[no]",
        "[found it]",
        "[Ok]",
        "@blobs",
        "@blob",
        "[redacted:key]",
        "1→x",
        "[]",
    ],
)
@pytest.mark.requirement("RESULT-10")
def test_anything_else_is_text_kept_exactly(text: str) -> None:
    assert parse_result(text) == Result(ResultKind.TEXT, text)


def test_shorthand_has_to_close_on_its_first_line() -> None:
    assert parse_result("[a\n12 files]").kind is ResultKind.TEXT


def test_error_cut_short_is_still_an_error() -> None:
    result = parse_result("[err: cannot open /very/long/pa...")
    assert (result.kind, result.detail) == (ResultKind.ERR, "cannot open /very/long/pa...")


@pytest.mark.requirement("ARGS-14")
def test_backslash_does_not_hide_a_bracket() -> None:
    assert parse_result("[err: C:\\tmp\\]").detail == "C:\\tmp\\"


@pytest.mark.requirement("ARGS-13")
def test_escaped_shorthand_is_text() -> None:
    result = parse_result(r"\[ok] \→", escaped=True)
    assert (result.kind, result.text, result.raw) == (ResultKind.TEXT, "[ok] →", r"\[ok] \→")
    assert parse_result(r"[err: a \] b]", escaped=True).detail == "a ] b"


@pytest.mark.requirement("LAYOUT-05")
def test_text_behind_a_shorthand_may_go_on_over_lines() -> None:
    assert parse_result("[err: 1 failed]\ntest_a\ntest_b").text == "[err: 1 failed]\ntest_a\ntest_b"
    assert parse_result("[ok] one\ntwo").detail == "one\ntwo"


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("[selected: OAuth]", ("OAuth",)),
        ("[selected: Auth, API]", ("Auth", "API")),
        ('[selected: "One, two", three]', ("One, two", "three")),
        ("[selected: a [b] c]", ("a [b] c",)),
        ("[selected: cut sho", ("cut sho",)),
        ("[selected]", ()),
    ],
)
@pytest.mark.requirement("QUEST-02")
def test_selected(text: str, choices: tuple[str, ...]) -> None:
    result = parse_result(text)
    assert (result.kind, result.choices) == (ResultKind.SELECTED, choices)


@pytest.mark.parametrize(
    ("text", "choices", "reason"),
    [
        ("[auto]", (), None),
        ('[auto: OAuth, reason="12 files use it"]', ("OAuth",), "12 files use it"),
        ("[auto: OAuth, reason=habit]", ("OAuth",), "habit"),
        ('[auto: OAuth reason="x"]', ("OAuth",), "x"),
        ('[auto: A, B, reason="both, really"]', ("A", "B"), "both, really"),
        ("[auto: treason=high]", ("treason=high",), None),
    ],
)
@pytest.mark.requirement("QUEST-05", "QUEST-06")
def test_auto(text: str, choices: tuple[str, ...], reason: str | None) -> None:
    result = parse_result(text)
    assert (result.kind, result.choices, result.reason) == (ResultKind.AUTO, choices, reason)


@pytest.mark.requirement("RESULT-04")
def test_open_results() -> None:
    texts = [
        "[running]",
        "[started]",
        "[pending]",
        "[retry 2/3]",
        "[auto]",
        "[auto: x]",
        "[ok]",
        "[skip]",
        "text",
        "[err]",
    ]
    assert [parse_result(text).is_open for text in texts] == [True] * 5 + [False] * 5


@pytest.mark.requirement("SUBREF-01")
def test_fields_of_a_structured_result() -> None:
    result = parse_result('session_id=s7 path=t/s7.bbox files=[a, b] summary="3 failures"\nmore=1')
    assert result.fields == {"session_id": "s7", "path": "t/s7.bbox", "files": ("a", "b"), "summary": "3 failures"}


@pytest.mark.requirement("REDACT-01")
def test_redaction_markers_with_their_kind() -> None:
    assert REDACTED.findall("API=[redacted:env_var] x [redacted] [redacted:a-b.c] [redacted:]") == [
        "env_var",
        "",
        "a-b.c",
    ]
