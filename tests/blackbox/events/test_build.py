"""From the parts of a line to its event."""

import pytest

from blackbox.events.build import Unparsed, join_text
from blackbox.syntax.kinds import Kind
from tests.blackbox.events.entry import event


@pytest.mark.parametrize(
    ("source", "kind"),
    [("", Kind.BLANK), ("z: what", Kind.UNKNOWN), ("  stray", Kind.CONTINUATION), ("---x", Kind.UNKNOWN)],
)
@pytest.mark.requirement("LAYOUT-08")
def test_line_that_says_nothing_is_kept(source: str, kind: Kind) -> None:
    assert event(source) == Unparsed(kind, source)


def test_joined_text() -> None:
    assert join_text("a", ["b", ""], False) == "a\nb\n"
    assert join_text("", ["b"], False) == "b"
    assert join_text(r"a\\", [r"\nb"], True) == "a\\\n\nb"
