"""Hostile lines of half a megabyte are read in time that follows their length.

A quadratic path takes minutes on these; the limit below is generous, so that a slow machine does not fail.
"""

import subprocess
import sys

import pytest

LIMIT_SECONDS = 60
SCRIPT = """
import sys
from blackbox import parse
line = {expression}
data = ({head!r} + line + "\\n").encode(errors="surrogateescape")
document = parse(data)
assert document.emit() == data
for line in document.lines:
    line.event, line.elements, line.meta.raw, line.id, line.text, line.result, line.result_kind, line.head
"""
N = 500_000
LINES = {
    "quotes that never close": """'t:x ' + '"a ' * ({n} // 3)""",
    "quotes around arrows": """'t:x ' + '"→' * ({n} // 2)""",
    "quoted arrows and one behind": """'t:x ' + '"→" ' * ({n} // 4) + '→ [ok]'""",
    "open brackets": """'t:x ' + '[' * {n}""",
    "open brackets apart": """'t:x ' + '[ ' * ({n} // 2)""",
    "nested brackets": """'t:x ' + '[' * ({n} // 2) + ']' * ({n} // 2)""",
    "brackets and quotes": """'t:x ' + '["' * ({n} // 2)""",
    "quotes in one list item": """'t:x [' + 'x"' * ({n} // 2) + ']'""",
    "spaces and quotes in one list item": """'t:x [' + ' ' * ({n} // 2) + 'x"' * ({n} // 4) + ']'""",
    "list items": """'t:x [' + '"a", ' * ({n} // 5) + ']'""",
    "pairs in a call": """'t:x ' + 'id=1 ' * ({n} // 5) + 'x'""",
    "pairs behind prose": """'u: x' + ' id=1' * ({n} // 5)""",
    "pairs behind prose, by tabs": """'u: x' + '\\tid=1' * ({n} // 5)""",
    "quoted pairs behind prose": """'u: x' + ' id="a b"' * ({n} // 9)""",
    "flags behind prose": """'u: x' + ' interrupted' * ({n} // 12)""",
    "pairs behind a result": """'t:x → ok' + ' step=1' * ({n} // 7)""",
    "equals signs": """'t:x ' + 'a=' * ({n} // 2)""",
    "backslashes": """'t:x "' + '\\\\\\\\' * {n}""",
    "backslashed quotes": """'t:x "' + '\\\\\\\\"' * ({n} // 2)""",
    "backslashed quotes before a comment": """'@x "' + '\\\\\\\\"' * ({n} // 2) + ' # c'""",
    "comment marks": """'m:x' + ' # ' * ({n} // 3)""",
    "comment marks in quotes": """'@x ' + '" # ' * ({n} // 4)""",
    "metrics again and again": """'a: x' + ' # metrics a=1' * ({n} // 14)""",
    "spaces": """'t:x' + ' ' * {n} + 'y'""",
    "spaces in a choice": """'q: → [auto: a' + ' ' * {n} + 'b]'""",
    "reasons": """'q: → [auto: ' + 'reason=' * ({n} // 7) + ']'""",
    "brackets in a result": """'t:x → [err: ' + '[' * {n}""",
    "states of todos": """'td: ' + '[pending] ' * ({n} // 10)""",
    "ranks": """'@assess → ' + 'P1: a, ' * ({n} // 7)""",
    "pairs in a comment": """'# ' + 'a=1 ' * ({n} // 4)""",
    "blobs": """'t:x → ' + '@blob sha256= ' * ({n} // 14)""",
    "arrows": """'o: ' + '→' * {n}""",
    "carriage returns": """'t:x ' + '\\r' * {n} + 'y'""",
    "bytes that are no UTF-8": """'u: ' + '\\udcff' * {n}""",
}
HEADERS = {
    "long value": """'notes: "' + 'a b' * ({n} // 3) + '"\\n---'""",
    "spaces in a broken header": """'a: [\\nb: c' + ' ' * {n} + 'd\\n---'""",
    "brackets": """'a: ' + '[' * {n} + '\\n---'""",
    "nesting hidden by quotes": """'a: ' + '["]",' * 5000 + '\\n---'""",
    "dashes": """'a:\\n  ' + '- ' * 5000 + '\\n---'""",
    "aliases": """'b0: &b0 [x]\\n' + ''.join(f'b{{i}}: &b{{i}} [*b{{i-1}}, *b{{i-1}}]\\n' for i in range(1, 99))""",
    "fields": """'a: "b"\\n' * 9000 + '---'""",
    "no end": """'a: b\\n' * 200000""",
}


def run(expression: str, head: str) -> None:
    script = SCRIPT.format(expression=expression.format(n=N), head=head)
    subprocess.run([sys.executable, "-c", script], check=True, timeout=LIMIT_SECONDS)


@pytest.mark.parametrize("escaped", [False, True], ids=["plain", "escaped"])
@pytest.mark.parametrize("expression", LINES.values(), ids=LINES.keys())
@pytest.mark.requirement("BAD-05")
def test_hostile_line_is_read_in_linear_time(expression: str, escaped: bool) -> None:
    run(expression, "---\nescape: 1\n---\n" if escaped else "")


@pytest.mark.parametrize("expression", HEADERS.values(), ids=HEADERS.keys())
def test_hostile_header_is_read_in_bounded_time(expression: str) -> None:
    run(expression, "---\n")


@pytest.mark.parametrize(
    "prefix", ["u: ", "t:x → ", "t:x ", "", "  "], ids=["prose", "result", "call", "unknown", "indent"]
)
@pytest.mark.requirement("BAD-05")
def test_line_of_ten_megabytes(prefix: str) -> None:
    run(f"{prefix!r} + ('w' * 99 + ' ') * 100_000", "")
