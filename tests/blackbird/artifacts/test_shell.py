"""Lines of shell: commands, words, redirections, folders, and whose the exit code is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.shell import Exit, as_typed, parse

OWN, SHARED, HIDDEN = Exit.OWN, Exit.SHARED, Exit.HIDDEN


def words(line: str) -> list[list[str]]:
    return [[word.text for word in simple.words] for simple in parse(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ('a \'b c\' "d \\"e\\"" f\\ g', [["a", "b c", 'd "e"', "f g"]]),
        ("a \\\n  b", [["a", "b"]]),
        ("a # b\nc", [["a"], ["c"]]),
        ("a;b&&c||d|e&f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ('echo $(a "b) c" $(d)) `e f` ${g h} $i', [["echo", '$(a "b) c" $(d))', "`e f`", "${g h}", "$i"]]),
        ("cat <<EOF > x\na; b\nEOF\nc", [["cat"], ["c"]]),
        ("cat <<-'END'\n\ta && b\n\tEND\nc", [["cat"], ["c"]]),
        ("(a; (b))", [["a"], ["b"]]),
        ("{ a; b; }", [["a"], ["b"]]),
        ("if a; then b; else c; fi", [["a"], ["b"], ["c"]]),
        ("for f in x y; do a $f; done", [["a", "$f"]]),
        ("diff <(a b) <(c)", [["diff", "<(a b)", "<(c)"]]),
        ("a#b", [["a#b"]]),
        ("'unclosed", [["unclosed"]]),
        ("", []),
    ],
)
def test_words(line: str, expected: list[list[str]]) -> None:
    assert words(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a", [OWN]),
        ("a | b", [HIDDEN, OWN]),
        ("set -o pipefail; a | b", [HIDDEN, SHARED, OWN]),
        ("a || true", [HIDDEN, HIDDEN]),
        ("a || exit 1", [OWN, OWN]),
        ("a; b", [HIDDEN, OWN]),
        ("set -e; a; b", [HIDDEN, SHARED, OWN]),
        ("a && b", [SHARED, SHARED]),
        ("cd x && a", [OWN, OWN]),
        ("a &", [HIDDEN]),
        ("(a; b) || true", [HIDDEN, HIDDEN, HIDDEN]),
        ("(a) && b", [SHARED, SHARED]),
        ("! a", [HIDDEN]),
        ("if a; then b; fi; c", [HIDDEN, HIDDEN, OWN]),
        ("a && b || c", [HIDDEN, HIDDEN, HIDDEN]),
    ],
)
def test_exit_codes(line: str, expected: list[Exit]) -> None:
    assert [simple.exit for simple in parse(line)] == expected


def test_folders() -> None:
    line = "a; cd x; b; (cd y && c); d; cd /z; e; cd $HOME; f"
    commands = {simple.words[0].text: simple.folder for simple in parse(line)}
    assert commands == {"a": "", "b": "x", "c": "x/y", "d": "x", "cd": "/z", "e": "/z", "f": None}


def test_redirections() -> None:
    (simple,) = parse("a < in > out 2>> err 2>&1 &> both <<< word")
    assert [(redirect.operator, redirect.target.text) for redirect in simple.redirects] == [
        ("<", "in"),
        (">", "out"),
        ("2>>", "err"),
        ("2>&", "1"),
        ("&>", "both"),
        ("<<<", "word"),
    ]


def test_what_the_shell_would_replace_is_not_literal() -> None:
    (simple,) = parse("a 'b$c' \"d$e\" f`g` h")
    assert [word.is_literal for word in simple.words] == [True, True, False, False, True]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("go test -v  './a b/...' 2>&1 | tail -5", ("go test -v './a b/...'",)),
        ("cd x && FOO=1 make; echo done > log", ("cd x", "FOO=1 make", "echo done")),
        ("if true; then make; fi", ("true", "make")),
        ("cat <<END > f\nmake\nEND\nls", ("cat", "ls")),
        ('run "a | b" || (make)', ('run "a | b"', "make")),
        ("", ()),
    ],
)
def test_commands_as_they_were_typed(line: str, expected: tuple[str, ...]) -> None:
    assert as_typed(line) == expected


@given(st.text(st.sampled_from("ab \t\n\r\\'\"`$(){};&|<>#=-\x0b\u2003if"), max_size=120) | st.text(max_size=60))
def test_any_line_is_taken_apart(line: str) -> None:
    assert parse(line) == parse(line)


@pytest.mark.parametrize("piece", ["$(", "(", "'", '"', "`", "<<A\n", "a && ", "if ", "\\", "${"])
def test_a_long_hostile_line_ends(piece: str) -> None:
    parse(piece * 20_000)
