"""Whether the memory is as far as the trace, found out without reading either."""

from blackbird.artifacts.version import builder_version
from blackbird.home import Home
from blackbird.store.memory import Memory
from blackbird.trace import synced
from blackbird.trace.errors import TraceError


def is_up_to_date(memory: Memory, home: Home) -> bool:
    """Whether all that is on the disk is in the memory, and was put there by this version.

    False is only a doubt: who derives knows.
    """
    try:
        reached = synced.parse((home.trace / synced.NAME).read_bytes())
    except (OSError, TraceError):
        return False
    mark = memory.mark()
    if mark is None or not memory.fits(builder_version()):
        return False
    return (mark.segment, mark.sequence) == (reached.segment, reached.sequence)
