"""Sessions on disk in any form: read from one file or a pair of them, written whole or not at all."""

from pathlib import Path
from typing import NamedTuple

from blackbox.disk import make_folder, write_once
from blackbox.document.files import open_log
from blackbox.errors import UsageError
from blackbox.formats import convert
from blackbox.formats.companion import from_companion
from blackbox.formats.flight import Flight, Reading
from blackbox.formats.recognise import Form, recognise


class Source(NamedTuple):
    """A session that was read: the file it was read from, the form of that, and what it holds."""

    form: Form
    reading: Reading
    path: Path


def read_session(path: Path) -> Source:
    """The session in a file. An .rlog is cut, so it is read from the companion beside it if there is one."""
    form, reading = convert.read(_read(path), str(path))
    companion = path.with_suffix(convert.COMPANION)
    if form is Form.RLOG and path.suffix == convert.LOG and companion.is_file():
        found = _read_companion(companion, reading.flight)
        if found is not None:
            return Source(Form.COMPANION, found, companion)
    return Source(form, reading, path)


def _read_companion(path: Path, short: Flight) -> Reading | None:
    """The session of a companion, with the header fields that only its .rlog has; None if it is another one's."""
    data = _read(path)
    if recognise(data) is not Form.COMPANION:
        return None
    found = from_companion(data)
    flight, losses = found
    names = {name for name in (flight.header.get("id"), short.header.get("id")) if name}
    if not flight.entries or convert.is_unknown(found) or len(names) > 1:
        return None
    header = flight.header | {key: value for key, value in short.header.items() if value}
    return Reading(Flight(header, flight.entries), losses)


def _read(path: Path) -> bytes:
    with open_log(path) as source:
        return source.read()


def targets(written: convert.Written, to: Path) -> dict[Path, str]:
    """Which text goes to which file: a pair of files has one name and two suffixes."""
    if len(written.texts) == 1:
        (text,) = written.texts.values()
        return {to: text}
    stem = to.with_suffix("") if to.suffix in written.texts else to
    return {stem.with_name(stem.name + suffix): text for suffix, text in written.texts.items()}


def check_targets(paths: list[Path], *, force: bool, sources: list[Path]) -> None:
    """Refuse to write over what is there, unless asked to, and over what is being read in any case."""
    for path in paths:
        if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
            raise UsageError(f"{path} is the session that is read", "name another file")
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file", "name a file, or a folder if there are several sessions")
        if path.exists() and not force:
            raise UsageError(f"{path} is there already", "name a new file, or use --force to replace it")


def write_files(texts: dict[Path, str]) -> None:
    """Each text in its file, for its owner's eyes alone; a companion comes before the .rlog that leads to it."""
    for path, text in texts.items():
        make_folder(path.parent)
        write_once(path, text.encode(), sync=True)
