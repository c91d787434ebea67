"""The memory behind a door. It takes a while to load, so a door is open before this is asked for."""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from blackbird import home as homes
from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.doors.dispatch import Dispatcher
from blackbird.errors import NotFound
from blackbird.home import Home
from blackbird.recall.reading import Recall
from blackbird.recall.whose import Whose

_MOST_ASKERS = 64
#: Seconds that an agent waits for what is new. Its own session grows with every turn, and may be long by now.
_PATIENCE = 2.0


class Recalls:
    """The read path for each of those who ask: whose a question is decides what is searched, and what is counted."""

    def __init__(self, home: Home, config: Config, door: str) -> None:
        self._home = home
        self._config = config
        self._door = door
        self._known: OrderedDict[Whose, Recall] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, whose: Whose) -> Recall:
        """What answers one asker."""
        with self._lock:
            if whose not in self._known:
                self._known[whose] = Recall(self._home, self._config, door=self._door, own=whose, patience=_PATIENCE)
            self._known.move_to_end(whose)
            if len(self._known) > _MOST_ASKERS:
                self._known.popitem(last=False)[1].close()
            return self._known[whose]

    def knows(self, session: str) -> bool:
        """Whether there is a session of that name."""
        try:
            return self.of(Whose()).ask(lambda memory: memory.has_session(session))
        except NotFound:
            return False

    def close(self) -> None:
        """Let go of the memory."""
        with self._lock:
            while self._known:
                self._known.popitem()[1].close()


@contextmanager
def dispatcher(door: str, *, has_one_asker: bool) -> Iterator[Dispatcher]:
    """What answers calls that come through a door, out of the memory of this user.

    A process that one client has started for itself is told by its environment and its folder whose the calls are.
    """
    home = homes.find()
    recalls = Recalls(home, load(home), door)
    try:
        own = (os.environ, homes.working_folder()) if has_one_asker else ({}, None)
        yield Dispatcher(recalls, *own)
    finally:
        recalls.close()
