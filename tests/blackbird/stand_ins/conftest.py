"""One recorder for all stand-ins, whose programs are on the user's PATH under the names of the real clients."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from blackbird.provider import Provider
from tests.blackbird.launch.cockpit import Cockpit
from tests.blackbird.stand_ins.airfield import Airfield

if sys.platform == "win32":
    collect_ignore_glob = ["test_*.py"]  # there is no recorder


@pytest.fixture(scope="session")
def airfield() -> Iterator[Airfield]:
    with tempfile.TemporaryDirectory(prefix="bb") as folder, Provider() as provider:
        cockpit = Cockpit(Path(folder), provider)
        cockpit.up(chatgpt=provider.url)
        yield Airfield(cockpit)
        cockpit.down()
