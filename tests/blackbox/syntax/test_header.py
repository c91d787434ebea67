"""The header: YAML whose scalars stay text, and what is wrong with it as data."""

import pytest

from blackbox.syntax.header import Field, Header, HeaderValue, Problem


def header(text: str, *, closed: bool = True) -> Header:
    sources = ["---", *text.strip("\n").split("\n")]
    return Header([*sources, "---"] if closed else sources, closed=closed)


def names(head: Header) -> list[tuple[str, int]]:
    return [(problem.name, problem.line) for problem in head.problems]


@pytest.mark.parametrize(
    "text", ["1234e56", "1.0", "007", "0x1f", "true", "null", "~", "2026-01-02", "12:30:00", ".5", "1_000"]
)
@pytest.mark.requirement("HEAD-01")
def test_scalars_stay_text(text: str) -> None:
    assert header(f"repo_sha: {text}").repo_sha == text
    assert header(f"repo_sha: {text}\nskills: []").repo_sha == text


@pytest.mark.requirement("HEAD-01")
def test_quotes_are_yamls() -> None:
    head = header('client_version: "2.0.71"\nnotes: \'it\'\'s "mocked"\'\nslug: "a\\tb"')
    assert head.fields == {"client_version": "2.0.71", "notes": 'it\'s "mocked"', "slug": "a\tb"}


def test_names_of_the_required_fields() -> None:
    head = header("format: bbox/1\nid: sess_1\nrepo_sha: 1a2b3c4")
    assert (head.format, head.format_name, head.format_version) == ("bbox/1", "bbox", "1")
    assert (head.id, head.repo_sha, head.problems) == ("sess_1", "1a2b3c4", [])


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("rlog/1.0", "rlog", "1.0"),
        ("bbox/2", "bbox", "2"),
        ("foo/1", "foo", "1"),
        ("bbox", None, None),
        ("", None, None),
    ],
)
def test_format_splits_into_name_and_version(text: str, name: str | None, version: str | None) -> None:
    head = header(f"format: {text}")
    assert (head.format_name, head.format_version) == (name, version)


@pytest.mark.parametrize("key", ["mode", "model", "agent", "version", "classification"])
@pytest.mark.requirement("HEAD-05")
def test_fields_about_the_agent(key: str) -> None:
    assert header(f"{key}: some-word 4").text(key) == "some-word 4"


@pytest.mark.parametrize("key", ["repo", "branch", "sandbox_id", "runner"])
@pytest.mark.requirement("HEAD-06")
def test_fields_about_the_place(key: str) -> None:
    assert header(f"{key}: acme/seed-bank").text(key) == "acme/seed-bank"


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False), ("maybe", None)])
def test_dirty_is_a_truth_value(text: str, value: bool | None) -> None:
    assert header(f"dirty: {text}").dirty is value


@pytest.mark.requirement("HEAD-08")
def test_lists_and_maps_have_text_values() -> None:
    head = header("skills: [code-review, 42]\nmcp:\n  - forge\n  - true\ntoolset: {git: 2.45, rg: 14.1}\nnone: []")
    assert head.fields == {
        "skills": ["code-review", "42"],
        "mcp": ["forge", "true"],
        "toolset": {"git": "2.45", "rg": "14.1"},
        "none": [],
    }


@pytest.mark.requirement("HEAD-09")
def test_budget_and_duration_keep_their_spelling() -> None:
    head = header("budget: $50.00\nduration: 12h")
    assert (head.budget, head.duration) == ("$50.00", "12h")


@pytest.mark.requirement("HEAD-10", "LAYOUT-09")
def test_unknown_field_is_kept_with_its_line() -> None:
    head = header("format: bbox/1\nmood: sunny")
    assert head.items[1] == Field("mood", "sunny", 3)
    assert head.line_of("mood") == 3
    assert head.line_of("not there") == 1


@pytest.mark.requirement("HEAD-11")
def test_duplicate_key_names_both_lines() -> None:
    head = header("id: a\nx: 1\nid: b")
    assert head.problems == [
        Problem("duplicate-key", 4, "the key `id` occurs twice, first in line 2; the last one counts")
    ]
    assert head.id == "b"


@pytest.mark.requirement("HEAD-12")
def test_fields_of_a_converted_session() -> None:
    head = header(
        "client_version: 3.4.1\nslug: patient-lantern\ncwd: /home/dev/x\n"
        "tokens_total_in: 4216\ntokens_total_out: 1392\ntokens_cached: 88350\ntokens_cache_create: many"
    )
    assert [head.text(key) for key in ("client_version", "slug", "cwd")] == [
        "3.4.1",
        "patient-lantern",
        "/home/dev/x",
    ]
    assert head.totals == {
        "tokens_total_in": 4216,
        "tokens_total_out": 1392,
        "tokens_cached": 88350,
        "tokens_cache_create": None,
    }


@pytest.mark.requirement("NOTE-02")
def test_note_of_the_session() -> None:
    assert header('notes: "tools were mocked: all of them"').notes == "tools were mocked: all of them"


@pytest.mark.requirement("NOTE-03")
def test_extras_are_collected_under_their_names() -> None:
    assert header("extra.suite: qa\nextra.task.id: 42").extra == {"suite": "qa", "task.id": "42"}


@pytest.mark.parametrize(
    ("text", "escaped"), [("escape: 1", True), ('escape: "1"', True), ("escape: 2", False), ("id: x", False)]
)
@pytest.mark.requirement("ARGS-13")
def test_escape_rule_is_asked_for_by_the_header(text: str, escaped: bool) -> None:
    assert header(text).escaped is escaped


def test_comments_and_blank_lines() -> None:
    assert header("# where\n\nid: a\n   \n# more: x").fields == {"id": "a"}


def test_empty_values_are_empty_text() -> None:
    assert header("id:\nrepo_sha: ''\nmodel: ").fields == {"id": "", "repo_sha": "", "model": ""}


def test_carriage_returns_are_no_part_of_a_value() -> None:
    assert header("id: a\r\nskills: [b]\r\nnotes: 'c'\r").fields == {"id": "a", "skills": ["b"], "notes": "c"}


@pytest.mark.parametrize("mark", ["\x85", "\u2028", "\u2029", "\r"], ids=["nel", "ls", "ps", "cr"])
@pytest.mark.requirement("LAYOUT-06")
def test_other_line_separators_stay_inside_their_line(mark: str) -> None:
    head = header(f'notes: "a{mark}b"\nid: "x"\nid: "y"')
    assert head.notes == f"a{mark}b"
    assert head.problems[0].line == 4


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id: a\nmodel: b: c", 3),
        ("id: a\nskills: [x", 4),
        ("id: a\n\tx: y", 3),
        ("id: a\n- item", 3),
        ("just words", 2),
        ("id: a\nx: \x00", 2),
        ("id: a\nx: \udc80", 2),
    ],
)
def test_bad_yaml_is_a_problem_with_its_line(text: str, line: int) -> None:
    head = header(text)
    assert head.problems[0].name == "yaml"
    assert head.problems[0].line <= line


def test_plain_fields_are_found_in_bad_yaml() -> None:
    head = header("format: bbox/1\nid: 'a'\nmodel: b: c\nrepo_sha : 1a2b3c4  \nempty:")
    assert head.fields == {"format": "bbox/1", "id": "a", "model": "b: c", "repo_sha": "1a2b3c4", "empty": ""}


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [*x]",
        'a: "\\UFFFFFFFF"',
        "%YAML 1." + "1" * 5000,
        "a: " + "[" * 2000,
        "a: " + '["]",' * 2000,
        "a: " + "- " * 2000,
        "a: &a [x, x]\n"
        + "\n".join(
            f"b{i}: &b{i} [*{'a' if i == 0 else f'b{i - 1}'}, *{'a' if i == 0 else f'b{i - 1}'}]" for i in range(40)
        ),
        "a: |\n" + "  x\n" * 90_000,
    ],
    ids=["recursion", "character", "version", "brackets", "quoted brackets", "dashes", "aliases", "length"],
)
def test_hostile_yaml_is_a_problem_too(text: str) -> None:
    assert names(header(text))[0][0] == "yaml"


def test_column_of_an_indented_key() -> None:
    assert header('  id: "a"').items == [Field("id", "a", 2, 2)]


def test_header_that_never_ends_is_read() -> None:
    head = header("id: a\nmodel: b", closed=False)
    assert (head.fields, head.last_line) == ({"id": "a", "model": "b"}, 3)


def test_nested_values() -> None:
    value: HeaderValue = {"b": ["c", {"d": "e"}]}
    assert header("a: {b: [c, {d: e}]}").fields["a"] == value
    assert header("a: {b: [c, {d: e}]}").text("a") is None


def test_lines_count_from_where_the_header_stands() -> None:
    head = Header(["---", "id: a", "id: b", "---"], first_line=3)
    assert (head.items[0].line, head.last_line) == (4, 6)
