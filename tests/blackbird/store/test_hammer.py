"""One memory, several writers and readers, and a short while of kills; `make soak` does the same for minutes."""

import sys
from pathlib import Path

import pytest

from tests.soak.memory.hammer import hammer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="who lives is read from /proc")


@pytest.mark.requirement("STORE-03")
def test_nothing_is_lost_or_damaged_whoever_is_killed(tmp_path: Path) -> None:
    done = hammer(tmp_path, 5.0, writers=2, readers=2, seed=3)
    assert done.trouble == []
    assert done.kills > 2
    assert done.versions > 0
    assert done.looks > 0
