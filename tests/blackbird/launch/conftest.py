"""A user, a recorder and a provider for the runs of a test module."""

import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from blackbird.provider import Provider
from tests.blackbird.launch.cockpit import Cockpit

if sys.platform == "win32":
    collect_ignore_glob = ["test_*.py"]  # there is no recorder


@pytest.fixture(scope="package", autouse=True)
def signals_as_usual() -> Iterator[None]:
    """What a shell in the background ignores, its children ignore, too, and no trap of theirs would hear it."""
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    ignored = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(scope="module")
def shared() -> Iterator[Cockpit]:
    """One recorder for the runs of a module that leave it as it is."""
    with tempfile.TemporaryDirectory(prefix="bb") as folder, Provider() as provider:
        cockpit = Cockpit(Path(folder), provider)
        cockpit.up()
        yield cockpit
        cockpit.down()


@pytest.fixture
def alone() -> Iterator[Cockpit]:
    """A user whose recorder does not run yet."""
    with tempfile.TemporaryDirectory(prefix="bb") as folder, Provider() as provider:
        cockpit = Cockpit(Path(folder), provider)
        yield cockpit
        cockpit.down()
