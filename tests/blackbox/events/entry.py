"""One entry of a log and its event."""

import blackbox
from blackbox.document.line import Line
from blackbox.events import Event


def entry(text: str, *, escaped: bool = False) -> Line:
    """The first entry of a body; its continuations stand on lines of their own."""
    head = "---\nescape: 1\n---\n" if escaped else ""
    return blackbox.parse(f"{head}{text}\n").lines[0]


def event(text: str, *, escaped: bool = False) -> Event:
    """What that entry says."""
    return entry(text, escaped=escaped).event
