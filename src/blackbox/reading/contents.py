"""What is no log: JSON lines and files of other kinds are refused, and not answered with zeros."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from blackbox.document.files import Stream, open_log, scan
from blackbox.document.line import Line
from blackbox.errors import ReadError
from blackbox.session.session import Session
from blackbox.syntax.kinds import Kind
from blackbox.terminal import inputs

#: How many entries without any that is known are looked at before it is clear that this is no log.
_PATIENCE = 1000
_NAME_ONE = "name a .bbox, .blackbox or .rlog file"
_NOTHING = frozenset({Kind.BLANK, Kind.CONTINUATION, Kind.UNKNOWN})


def check_session(name: str, session: Session) -> None:
    """A `ReadError` for a file that is no log, an empty one included."""
    if session.header is not None:
        return
    if _begins_as_json(session.lines):
        raise _json(name)
    if all(line.kind in _NOTHING for line in session.lines):
        has_text = any(line.kind is not Kind.BLANK for line in session.lines)
        raise _no_log(name) if has_text else ReadError(f"{inputs.shown(name)}: it is empty", _NAME_ONE)


def checked(name: str, stream: Stream) -> Iterator[Line]:
    """The entries of a log as they are read; a `ReadError` before the first of them if it is no log."""
    held: list[Line] = []
    lines = iter(stream)
    for line in lines:
        held.append(line)
        if stream.header is None and _begins_as_json(held):
            raise _json(name)
        if stream.header is not None or line.kind not in _NOTHING:
            yield from held
            yield from lines
            return
        if len(held) >= _PATIENCE:
            break
    if any(line.kind is not Kind.BLANK for line in held):
        raise _no_log(name)


def check_file(name: str, *, is_growing: bool) -> None:
    """A `ReadError` for a file that is no log. One that grows may have no more than the start of a line yet."""
    if not Path(name).is_file():
        return
    with open_log(name) as source:
        stream = scan(source)
        if not is_growing:
            next(checked(name, stream), None)
        elif _begins_as_json(stream) and stream.header is None:
            raise _json(name)


def _begins_as_json(lines: Iterable[Line]) -> bool:
    first = next((line for line in lines if line.kind is not Kind.BLANK), None)
    return first is not None and first.source.lstrip("\ufeff \t").startswith("{")


def _json(name: str) -> ReadError:
    log = Path(name).with_suffix(".rlog")
    where = str(log) if name != inputs.STDIN and log.is_file() else "the .rlog or .bbox"
    file = "FILE" if name == inputs.STDIN else name
    return ReadError(
        f"{inputs.shown(name)}: this is JSON lines and no log",
        f"name {where}, or make a log of it: blackbox export {file} --format bbox",
    )


def _no_log(name: str) -> ReadError:
    return ReadError(f"{inputs.shown(name)}: this is no log: none of its lines is one of a log", _NAME_ONE)
