"""The memory as commands ask it: that of this user, by these settings, for the run or the folder it is started in."""

import contextlib
import os
from collections.abc import Iterator

import msgspec

from blackbird import home as homes
from blackbird.cli.memory import telling
from blackbird.config.load import load
from blackbird.recall import Recall, Whose


@contextlib.contextmanager
def recalled() -> Iterator[Recall]:
    """The memory. What could not be understood while it was brought up to the trace is told at the end."""
    home = homes.find()
    own, tell = msgspec.structs.replace(Whose.of(os.environ), folder=homes.working_folder()), telling.progress()
    with Recall(home, load(home), door="cli", own=own, tell=tell) as recall:
        try:
            yield recall
        finally:
            if recall.report is not None:
                telling.show_findings(recall.report)
