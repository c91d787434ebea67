"""Asks the memory of a home: brought up to date first, and made anew if it is damaged."""

import contextlib
from collections.abc import Callable
from typing import TypeVar

from blackbird import derive
from blackbird.cli.memory import deriving
from blackbird.errors import MemoryBusy, MemoryDamaged, NotFound
from blackbird.home import Home
from blackbird.sessions.choice import NOTHING_YET
from blackbird.store.memory import Memory, Reader

_Answer = TypeVar("_Answer")


def answer(home: Home, question: Callable[[Memory], _Answer]) -> _Answer:
    """What the memory says. If another process is at it, as far as that is. Raises `NotFound` if there is none."""
    with contextlib.suppress(MemoryBusy):
        deriving.show_findings(derive.catch_up(home, deriving.progress()))
    try:
        return _asked(home, question)
    except MemoryDamaged:
        derive.rebuild(home, deriving.progress())
        return _asked(home, question)


def _asked(home: Home, question: Callable[[Memory], _Answer]) -> _Answer:
    with Reader(home.derived) as reader:
        if reader.memory is None:
            raise NotFound("there is no memory yet", NOTHING_YET)
        return question(reader.memory)
