"""The first characters of a line decide its kind."""

import pytest

from blackbox.syntax.kinds import PREFIXES, Kind, classify


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("u: hello", Kind.USER),
        ("a: hello", Kind.AGENT),
        ("t:read x", Kind.TOOL),
        ("t!:read x", Kind.TOOL_START),
        ("t~:read x", Kind.TOOL_PROGRESS),
        ("o: id=1", Kind.OBSERVATION),
        ("s:lint run", Kind.SKILL),
        ("p:create", Kind.PLAN),
        ("m:auto", Kind.MODE),
        ('r: "x"', Kind.RECALL),
        ("x:explore", Kind.SUBAGENT),
        ("c:forge.issues", Kind.MCP),
        ('q: "x"', Kind.QUESTION),
        ("# remark", Kind.COMMENT),
        ("#remark", Kind.COMMENT),
        ("#", Kind.COMMENT),
        ("@start", Kind.LIFECYCLE),
        ("@phase design", Kind.PHASE),
        ("@phase", Kind.PHASE),
        ("th: hm", Kind.THINKING),
        ("td: [pending] x", Kind.TODOS),
        ("", Kind.BLANK),
        ("\r", Kind.BLANK),
        (" ", Kind.BLANK),
        ("  more", Kind.CONTINUATION),
        ("\tmore", Kind.CONTINUATION),
        ("  ", Kind.CONTINUATION),
    ],
)
def test_kind_of(source: str, kind: Kind) -> None:
    assert classify(source) is kind


@pytest.mark.requirement("LAYOUT-07")
@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("t!:x", Kind.TOOL_START),
        ("t~:x", Kind.TOOL_PROGRESS),
        ("th:x", Kind.THINKING),
        ("td:x", Kind.TODOS),
        ("@phase x", Kind.PHASE),
        ("@phases x", Kind.LIFECYCLE),
        ("@phase-out x", Kind.LIFECYCLE),
    ],
)
def test_longest_prefix_wins(source: str, kind: Kind) -> None:
    assert classify(source) is kind


@pytest.mark.requirement("LAYOUT-08")
@pytest.mark.parametrize("source", ["z: x", "hello", "---", "T:x", "@", "@1", "t x", "u", "-> x", "→ x", "\x00"])
def test_anything_else_is_unknown(source: str) -> None:
    assert classify(source) is Kind.UNKNOWN


@pytest.mark.parametrize(
    ("source", "kind"),
    [(" u: x", Kind.USER), (" @end", Kind.LIFECYCLE), (" z", Kind.UNKNOWN), (" \tx", Kind.CONTINUATION)],
)
def test_one_leading_space_does_not_count(source: str, kind: Kind) -> None:
    assert classify(source) is kind


def test_labels_are_the_kinds_in_camel_case() -> None:
    assert [Kind.TOOL_START.label, Kind.MCP.label, Kind.LIFECYCLE.label] == ["ToolStart", "Mcp", "Lifecycle"]


def test_every_kind_with_a_prefix_reads_its_own() -> None:
    assert {kind: classify(f"{prefix}x" if prefix == "@" else prefix) for kind, prefix in PREFIXES.items()} == {
        kind: kind for kind in PREFIXES
    }
