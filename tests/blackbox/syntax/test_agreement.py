"""Each fast path of the grammar agrees with the slow one it stands for, on any text."""

import re
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blackbox.document.line import Line
from blackbox.syntax import metadata, quick, tokens
from blackbox.syntax.header import Field, Header
from blackbox.syntax.kinds import PREFIXES, PROSE, Kind, classify
from blackbox.syntax.parts import Parts
from blackbox.syntax.results import parse_result, quick_kind
from tests.blackbox.syntax.soup import bodies, line_of, lines, quoted, sources

NEVER = re.compile(r"(?!)")
MESSAGE_ENDS = ("", " step=1 ts=2", " tid=2 step=1 ts=2", " ts=1 step=2 ts=3", " # metrics step=1 ts=2")


def slow_arrow(source: str, start: int) -> int:
    with mock.patch.object(tokens, "_CLEAN_TO_ARROW", NEVER):
        return tokens.find_arrow(source, start)


def slow_meta(part: str) -> dict[str, str]:
    return metadata.split_tokens(tokens._Lexer(part, 0, len(part), False).run())[1]


@given(st.one_of(bodies, quoted))
@example('x" " y→"')
def test_arrow_behind_clean_quotes_is_where_the_walk_finds_it(body: str) -> None:
    source = f"t:{body}"
    assert tokens.find_arrow(source, 2) == slow_arrow(source, 2)


@given(st.one_of(bodies, quoted))
@example('a=b="c d"')
def test_clean_words_are_the_lexers_words(body: str) -> None:
    source = f"t:x{body}"
    for start in (2, 3):
        assert tokens.lex(source, start, len(source)) == tokens._Lexer(source, start, len(source), False).run()


@given(st.one_of(bodies, quoted))
@example('x=b="c id=5 d"')
@example('="x id=5 y"')
@example('id="a b"')
def test_metadata_of_a_plain_call_part_is_the_lexers(part: str) -> None:
    found = quick.call_metadata(part)
    assert found is None or found == slow_meta(part)


@given(st.one_of(bodies, quoted), st.booleans())
@example("x id=5 step=2", False)
@example('x id=a"b step=2', False)
@example('he said "use id=5"', False)
def test_plain_trailing_run_is_the_full_one(body: str, escaped: bool) -> None:
    quickly = quick.trailing_metadata(body, 0, len(body))
    if quickly is not None:
        run = metadata.run_start(body, 0, len(body), escaped=escaped)
        words = tokens._Lexer(body, run, len(body), escaped).run()
        assert quickly == (run, metadata.split_tokens(words)[1])


@given(lines)
@example(line_of('t:git commit "a → b" → [ok]'))
@example(line_of("t: id=5 x"))
@example(line_of('t:x "a=1 → b=2" id=5'))
def test_head_of_a_plain_line_is_that_of_its_parts(line: Line) -> None:
    parts = Parts(line.kind, line.source, line.escaped)
    assert line.head == quick.Head(parts.name, slow_raw_meta(line), parts.result_start)


def slow_raw_meta(line: Line) -> dict[str, str]:
    with (
        mock.patch.object(quick, "call_metadata", return_value=None),
        mock.patch.object(quick, "trailing_metadata", return_value=None),
    ):
        return Parts(line.kind, line.source, line.escaped).raw_meta


@given(lines)
@example(line_of("u: x\tid=5 step=6"))
@example(line_of("t:x → [ok] id=[a step=5"))
def test_metadata_read_quickly_is_the_full_reading(line: Line) -> None:
    assert Parts(line.kind, line.source, line.escaped).raw_meta == slow_raw_meta(line)


@given(st.one_of(bodies, quoted), st.booleans())
def test_trailing_run_holds_nothing_but_metadata(body: str, escaped: bool) -> None:
    run = metadata.run_start(body, 0, len(body), escaped=escaped)
    if "[" not in body and "{" not in body:
        assert metadata.split_tokens(tokens.lex(body, run, len(body), escaped=escaped))[0] == []


@given(lines)
@example(line_of('q:"foo id=3 bar"'))
@example(line_of("hello id=5"))
@example(line_of("t!: id=5 x"))
@example(line_of("t:x→y id=5 z"))
@example(line_of('@start"x id=5 y"'))
@example(line_of('o:"a id=5 b"'))
@example(line_of("o:[a id=5 b]"))
@example(line_of("t:" + "x" * 99 + " id=5"))
@example(line_of("t: id=5 x"))
def test_leading_id_is_the_id_of_the_metadata(line: Line) -> None:
    assert line.id == line.parts.raw_meta.get("id")


@given(bodies, st.booleans())
@example(r"[err: C:\]", False)
@example("[err: cut sho", False)
@example(r"[5 \] x", True)
def test_quick_kind_is_the_kind_of_the_parsed_result(text: str, escaped: bool) -> None:
    text = text.lstrip(" \t")
    assert quick_kind(text, escaped=escaped) is parse_result(text, escaped=escaped).kind


@given(lines)
def test_result_kind_of_a_line_is_that_of_its_result(line: Line) -> None:
    result = line.result
    if line.kind is not Kind.MODE:
        assert line.result_kind is (None if result is None else result.kind)


def slow_classify(source: str) -> Kind:
    if source.startswith(("  ", "\t", " \t")):
        return Kind.CONTINUATION
    if not source.strip(" \t\r"):
        return Kind.BLANK
    source = source.removeprefix(" ")
    prefix = max((prefix for prefix in PREFIXES.values() if source.startswith(prefix)), key=len, default="")
    if prefix == "@phase" and re.match(r"[\w-]", source[6:]):
        prefix = "@"
    if prefix == "@" and not re.match("@[A-Za-z]", source):
        prefix = ""
    return next((kind for kind, text in PREFIXES.items() if text == prefix), Kind.UNKNOWN)


@given(sources)
@example(" \r ")
@example("\r  ")
@pytest.mark.requirement("LAYOUT-07")
def test_two_characters_settle_what_the_longest_prefix_says(source: str) -> None:
    assert classify(source) is slow_classify(source)


word = st.from_regex(r"[\w$/~.+][\w$/~.+@%=-]{0,5}", fullmatch=True)
simple_values = st.lists(word, max_size=3).map(" ".join)
simple_lines = st.one_of(
    st.builds(
        "{}:{}{}{}".format,
        st.sampled_from(["id", "a.b", "_x-y", "null", "on"]),
        st.just(" "),
        simple_values,
        st.just(""),
    ),
    st.builds("{}: {}  ".format, st.sampled_from(["k", "v1"]), simple_values),
    st.sampled_from(["# a comment", "", "   ", "empty:", "crlf: yes\r"]),
)


@given(st.lists(simple_lines, max_size=6))
@pytest.mark.requirement("HEAD-01")
def test_plain_header_lines_read_as_yaml_reads_them(body: list[str]) -> None:
    header = Header(["---", *body, "---"])
    fast: list[Field] | None = header._read_simple(body)
    assert fast is not None
    assert fast == header._read_yaml(body)


@given(st.lists(st.one_of(simple_lines, bodies.map("k: {}".format)), max_size=4))
def test_header_read_fast_has_no_problem_in_yaml(body: list[str]) -> None:
    header = Header(["---", *body, "---"])
    fast = header._read_simple(body)
    if fast:
        assert fast == header._read_yaml(body)


@given(bodies, st.sampled_from([kind for kind in PREFIXES if kind not in PROSE]))
def test_arguments_and_metadata_together_are_all_words(body: str, kind: Kind) -> None:
    parts = Parts(kind, PREFIXES[kind] + body, False)
    arguments, found = metadata.split_tokens(parts.tokens)
    meta = [token for token in parts.tokens if token not in arguments]
    assert all(token.key in found or token.value == "interrupted" for token in meta)


@given(bodies, st.sampled_from(MESSAGE_ENDS), st.booleans())
@example("x step=1 step=2 ts=3", "", False)
@example("x step=1 # metrics", " step=2 ts=3", False)
@example("step=1 ts=2", "", False)
def test_step_and_time_of_a_message_are_those_of_its_metadata(body: str, end: str, escaped: bool) -> None:
    source = f"a: {body}{end}"
    place = quick.step_and_time(source)
    if place is not None:
        found = Parts(Kind.AGENT, source, escaped).raw_meta
        assert (found.get("step"), found.get("ts"), found.get("tid")) == (*place, None)


@given(lines)
@example(line_of("t!:x id=1 → [running] tokens_in=2 tid=3"))
def test_brief_head_leaves_out_nothing_that_joins_or_dates(line: Line) -> None:
    brief = Line(line.kind, line.number, line.source, line.escaped).brief_head
    places = ("id", "step", "ts", "tid", "span", "attempt")
    assert (brief.name, brief.result_start) == (line.head.name, line.head.result_start)
    assert {key: brief.metadata.get(key) for key in places} == {key: line.head.metadata.get(key) for key in places}
