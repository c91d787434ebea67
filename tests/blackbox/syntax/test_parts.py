"""One physical line taken apart."""

import pytest

from tests.blackbox.syntax.soup import line_of


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("t:read x", "read"),
        ("t:vercel-deploy preview", "vercel-deploy"),
        ("t!:mcp__issues__list x", "mcp__issues__list"),
        ("t:Task.run→[ok]", "Task.run"),
        ("t: read x", "read"),
        ("t:", ""),
        ("s:form-copy check", "form-copy"),
        ("x:code.review_2 y", "code.review_2"),
        ("c:my-server.do_it x", "my-server.do_it"),
        ("m: auto", "auto"),
        ("@wait-approval pr=1", "wait-approval"),
        ("@start→x", "start"),
        ("o: id=1", ""),
    ],
)
@pytest.mark.requirement("PREFIX-19")
def test_name(source: str, name: str) -> None:
    assert line_of(source).parts.name == name


@pytest.mark.requirement("ARGS-08")
def test_first_arrow_of_an_observation_splits() -> None:
    parts = line_of('o: id=c1 → [ok] "1→import re 2→def f() → int"').parts
    assert parts.result == '[ok] "1→import re 2→def f() → int"'
    assert line_of('o: partial="a → b"').parts.result == 'b"'


@pytest.mark.parametrize(
    "source", ["u: f: A → B", "a: x → y", "th: so → then", "# range → all", "td: [pending] a → b"]
)
@pytest.mark.requirement("ARGS-09")
def test_arrow_in_prose_is_text(source: str) -> None:
    parts = line_of(source).parts
    assert parts.result is None
    assert "→" in parts.text


@pytest.mark.requirement("ARGS-10")
def test_ascii_arrow_is_text_everywhere() -> None:
    assert line_of("t:read x -> [ok]").parts.result is None
    assert line_of("t:sh f() -> int → [ok]").parts.result == "[ok]"


def test_result_without_text() -> None:
    assert line_of("t:git log →").parts.result == ""
    assert line_of("t:git log → ").parts.result == ""


@pytest.mark.parametrize(
    ("source", "comment"),
    [
        ("m:plan    # read only", "read only"),
        ("@phase explore # first look", "first look"),
        ('@notify "issue # 5" # for Ana', "for Ana"),
        ('@notify "PR #47 ready"', None),
        ("@end issues=3 #tag", None),
        ("@resume #", ""),
        ('@pause reason="odd # later', "later"),
        ("t:read x # y", None),
        ("m:auto#x", None),
    ],
)
@pytest.mark.requirement("ARGS-16")
def test_trailing_comment(source: str, comment: str | None) -> None:
    assert line_of(source).parts.comment == comment


@pytest.mark.requirement("ARGS-16")
def test_trailing_comment_is_no_part_of_the_arguments() -> None:
    parts = line_of("@end issues=3 # id=9 → x").parts
    assert [token.text for token in parts.arguments] == ["3"]
    assert parts.raw_meta == {}
    assert parts.result is None


@pytest.mark.requirement("ARGS-13")
def test_escaped_comment_mark_is_text() -> None:
    assert line_of(r"@notify a \# b # c", escaped=True).parts.comment == "c"


@pytest.mark.requirement("ARGS-17", "METRIC-01")
def test_inline_metrics_are_cut_off_an_agent_line() -> None:
    parts = line_of("a: Found it. step=3 # metrics prompt=520 completion=80").parts
    assert parts.text == "Found it."
    assert parts.raw_meta == {"step": "3"}
    assert [(token.key, token.value) for token in parts.metrics] == [("prompt", "520"), ("completion", "80")]


@pytest.mark.parametrize(
    "source",
    [
        "a: see # 5",
        "a: the # metrics page is empty",
        "a: # metrics a=1 and more",
        "u: x # metrics prompt=5",
        "a: x #metrics a=1",
    ],
)
@pytest.mark.requirement("ARGS-17")
def test_other_hashes_on_message_lines_are_text(source: str) -> None:
    parts = line_of(source).parts
    assert parts.metrics == []
    assert parts.text == source[2:].strip()


def test_first_metrics_that_reach_the_end_count() -> None:
    assert line_of("a: a # metrics x and # metrics b=2").parts.text == "a # metrics x and"


def test_carriage_return_is_no_part_of_anything() -> None:
    parts = line_of("t:read x → [ok]\r").parts
    assert parts.result == "[ok]"
    assert line_of("u: hello\r").parts.text == "hello"
    assert line_of("m:auto\r").parts.name == "auto"


def test_one_leading_space_is_read_past() -> None:
    assert line_of(" t:read x → y").parts.name == "read"
    assert line_of(" u: hello").parts.text == "hello"
    assert line_of(" u: hello").text == "hello"
