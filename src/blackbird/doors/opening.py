"""The memory behind a door, opened when it is first needed: what a door says of itself must not wait for it."""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from blackbird.doors.dispatch import Dispatcher


@contextmanager
def dispatcher(door: str) -> Iterator[Dispatcher]:
    """What answers calls that come through a door, out of the memory of this user."""
    home = importlib.import_module("blackbird.home").find()
    config = importlib.import_module("blackbird.config.load").load(home)
    with importlib.import_module("blackbird.recall").Recall(home, config, door=door) as recall:
        yield Dispatcher(recall, os.environ)
