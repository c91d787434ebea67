"""Arrows, words, quotes and lists of a call part."""

import pytest

from blackbox.syntax.tokens import Token, Value, find_arrow, lex, split_items, unquote


def words(text: str, *, escaped: bool = False) -> list[tuple[str | None, Value]]:
    return [(token.key, token.value) for token in lex(text, 0, len(text), escaped=escaped)]


def split(source: str, *, escaped: bool = False) -> str | None:
    """What stands behind the arrow that `find_arrow` chooses."""
    arrow = find_arrow(source, 2, escaped=escaped)
    return None if arrow < 0 else source[arrow + 1 :]


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("t:read x → y", " y"),
        ("t:read x→y", "y"),
        ("t:read x → y → z", " y → z"),
        ('t:grep "a → b" → z', " z"),
        ('t:grep pattern="a → b" path=x→z', "z"),
        ('t:grep ["a → b", c] → z', " z"),
        ("t:read x", None),
        ('t:say "a → b"', None),
    ],
)
@pytest.mark.requirement("ARGS-06")
def test_first_arrow_outside_quotes_splits(source: str, result: str | None) -> None:
    assert split(source) == result


@pytest.mark.requirement("ARGS-11")
def test_arrow_needs_no_spaces() -> None:
    assert split('t:grep "seed"→[4]') == "[4]"


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ('t:sh cmd="git commit -m "fix → it → [ok]', " it → [ok]"),
        ('t:sh cmd="echo a"b → [ok]', " [ok]"),
        ('t:sh "open →x → y', " y"),
        ('t:sh "open →x', None),
    ],
)
@pytest.mark.requirement("ARGS-07")
def test_odd_quotes_fall_back_to_the_first_spaced_arrow(source: str, result: str | None) -> None:
    assert split(source) == result


@pytest.mark.parametrize("source", ["t:read x -> y", "t:read x ⇒ y", "t:read x => y"])
@pytest.mark.requirement("ARGS-10")
def test_other_arrows_never_split(source: str) -> None:
    assert split(source) is None


@pytest.mark.parametrize(
    ("source", "result"),
    [(r"t:x a \→ b → c", " c"), (r't:x "a \" → b" → c', " c"), (r"t:x \" → c", " c"), (r't:x "a → c', " c")],
)
@pytest.mark.requirement("ARGS-13")
def test_escaped_arrows_and_quotes_do_not_count(source: str, result: str) -> None:
    assert split(source, escaped=True) == result


@pytest.mark.requirement("ARGS-01")
def test_words_in_the_order_written() -> None:
    assert words("src/a.py limit=5 -v path=src") == [
        (None, "src/a.py"),
        ("limit", "5"),
        (None, "-v"),
        ("path", "src"),
    ]


@pytest.mark.requirement("ARGS-01")
def test_spaces_tabs_and_carriage_returns_separate() -> None:
    assert words(" a\t b=1\r c ") == [(None, "a"), ("b", "1"), (None, "c")]


@pytest.mark.requirement("ARGS-02")
def test_quoted_values_lose_their_quotes() -> None:
    assert words('"two words" key="three more words" empty=""') == [
        (None, "two words"),
        ("key", "three more words"),
        ("empty", ""),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('cmd="grep "x" y" z="1"', [("cmd", 'grep "x" y'), ("z", "1")]),
        ('cmd="say "hi""', [("cmd", 'say "hi"')]),
        ('cmd="say \\"hi\\" twice"', [("cmd", 'say "hi" twice')]),
        ('size=5" long', [("size", '5"'), (None, "long")]),
        ('"never closed', [(None, '"never'), (None, "closed")]),
        ('a="x"y', [("a", '"x"y')]),
    ],
)
def test_inner_quotes_end_where_a_reader_would_end_them(text: str, expected: list[tuple[str | None, Value]]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[201,202]", ("201", "202")),
        ('["JWT", "one time pad"]', ("JWT", "one time pad")),
        ("[a b, c]", ("a b", "c")),
        ("[]", ()),
        ('["a, b", c]', ("a, b", "c")),
        ("[x, [y, z]]", ("x", "[y, z]")),
        ('[say "hi, you", c]', ('say "hi', 'you"', "c")),
    ],
)
@pytest.mark.requirement("ARGS-04")
def test_lists(text: str, value: Value) -> None:
    assert words(text) == [(None, value)]
    assert words(f"key={text} next") == [("key", value), (None, "next")]


def test_list_that_does_not_end_at_a_space_is_a_word() -> None:
    assert words("a[1] [x]y [open") == [(None, "a[1]"), (None, "[x]y"), (None, "[open")]


def test_braces_stay_text() -> None:
    assert words('input={"a": [1, 2]} x') == [("input", '{"a": [1, 2]}'), (None, "x")]


@pytest.mark.requirement("REDACT-01")
def test_redaction_marker_is_no_list() -> None:
    assert words("API_KEY=[redacted:env_var] [redacted]") == [("API_KEY", "[redacted:env_var]"), (None, "[redacted]")]


@pytest.mark.requirement("ARGS-14")
def test_backslash_is_an_ordinary_character() -> None:
    assert words(r'C:\new\table path="C:\my dir" text="a\nb"') == [
        (None, r"C:\new\table"),
        ("path", r"C:\my dir"),
        ("text", r"a\nb"),
    ]


@pytest.mark.requirement("ARGS-03", "ARGS-13")
def test_escapes_are_understood_where_the_header_asks_for_them() -> None:
    assert words(r'a\sb k="x \"y\" \n z" [\[p\], "q\, r"]', escaped=True) == [
        (None, "a b"),
        ("k", 'x "y" \n z'),
        (None, ("[p]", "q, r")),
    ]


@pytest.mark.requirement("ARGS-03")
def test_raw_spelling_stays_at_hand() -> None:
    source = r't:x k="a \"b\"" c'
    token = lex(source, 3, len(source), escaped=True)[0]
    assert source[token.start : token.end] == r'k="a \"b\""'


def test_quoted_key_is_read_in_escaped_files_only() -> None:
    assert words('"odd key"=5', escaped=True) == [("odd key", "5")]
    assert words('"odd key"=5') == [(None, '"odd'), (None, 'key"=5')]


@pytest.mark.parametrize("text", ["1st=x", "=x", "é=x", "a b=c"])
def test_keys_start_with_a_letter_or_underscore(text: str) -> None:
    assert [key for key, _ in words(text)] == ([None, "b"] if " " in text else [None])


@pytest.mark.requirement("ARGS-18")
def test_tokens_know_their_columns() -> None:
    assert lex('t:x a k="b c"', 3, 13) == [Token(None, "a", 4, 5), Token("k", "b c", 6, 13)]


def test_list_as_one_text() -> None:
    assert Token("k", ("a", "b"), 0, 0).text == "a, b"


def test_items_of_a_choice() -> None:
    assert split_items('A, "B, C"') == ("A", "B, C")
    assert split_items("  ") == ()


@pytest.mark.parametrize(
    ("text", "escaped", "value"),
    [('"a b"', False, "a b"), ("a", False, "a"), ('"', False, '"'), (r'"a\""', True, 'a"'), (r"\"a\"", True, '"a"')],
)
def test_unquote(text: str, escaped: bool, value: str) -> None:
    assert unquote(text, escaped=escaped) == value
