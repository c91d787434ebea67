"""The session that a command is about."""

from typing import NamedTuple

from blackbird import home as homes
from blackbird.cli import reading
from blackbird.home import Home
from blackbird.sessions import rows
from blackbird.timeline import gather
from blackbird.timeline.scopes import Scope
from blackbird.timeline.timeline import Timeline
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.segment import Segment
from blackbox.errors import ReadError
from blackbox.terminal import output


class Chosen(NamedTuple):
    """A session of the trace, and the instance of the recorder that runs, if one does."""

    home: Home
    scope: Scope
    live: bytes | None

    @property
    def trace(self) -> Trace:
        """Where it is recorded."""
        return Trace(self.home.trace)

    @property
    def is_imported(self) -> bool:
        """Whether nothing of it was recorded, so that nothing of it is under way."""
        return self.scope.row.filing.attribution == rows.IMPORTED

    def timeline(self) -> Timeline:
        """All that the trace has of it."""
        return gather.read(self.trace, self.scope, live=self.live)


def choose(name: str | None) -> Chosen:
    """The session, run or client's own session that an id names, or the start of one; else the newest."""
    home = homes.find()
    live = reading.live_instance(reading.recorder_status(home))
    return Chosen(home, gather.scope(Trace(home.trace), name), live)


def first_segment(trace: Trace, wall: int | None) -> int:
    """The segment from which on a session is to be read that began then."""
    number = 1
    if wall is None:
        return number
    for place, content in trace.contents(newest_first=True):
        number = place.number
        if isinstance(content, Segment) and content.header.wall <= wall:
            break
    return number


def tell_problems(timeline: Timeline, *, as_json: bool) -> None:
    """What could not be read, on standard error."""
    for problem in timeline.problems:
        output.tell_error(TraceError(problem), as_json=as_json)
    for line in timeline.unread:
        output.tell_error(ReadError(line, "the agent left it so; all else of its log is told"), as_json=as_json)
