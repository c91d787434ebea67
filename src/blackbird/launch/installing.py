"""The memory made permanent for a client, in the user's own files, and taken out again so that they are as before."""

import contextlib
import difflib
import os
import shlex
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from blackbird.agents import permanent, servers, table
from blackbird.agents.jsonc import NotReadable
from blackbird.agents.permanent import Kept
from blackbird.agents.table import Client, Permanent
from blackbird.errors import NotFound
from blackbird.home import Home
from blackbird.launch import equipment
from blackbox.disk import make_folder, replace_file, write_once
from blackbox.errors import ReadError, UsageError, WriteError

#: The folder of the home in which is kept what was added to whose files.
FOLDER = "clients"
#: What says the pack at the start of a session.
_HOOK = ("-m", "blackbird.launch.greeting")
_LONGEST_FILE = 16 << 20


class Record(msgspec.Struct, frozen=True):
    """What was added for a client, in the order of its files."""

    client: str
    files: list[Kept]
    schema: str = "install-record/1"


class Change(NamedTuple):
    """A file and its text before and after; nothing: it is not there. `is_exact`: it will be as it once was."""

    path: Path
    before: str | None
    after: str | None
    is_exact: bool = True

    def diff(self) -> list[str]:
        """What is different, as lines."""
        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        return list(difflib.unified_diff(before, after, str(self.path), str(self.path), lineterm="", n=2))


class Prepared(NamedTuple):
    """What would be written, and what would be kept of it."""

    changes: list[Change]
    record: Record | None


def clients() -> list[Client]:
    """The clients that can have it."""
    return [client for client in table.clients() if client.install]


def named(name: str) -> Client:
    """A client by its name. Raises `UsageError`."""
    for client in clients():
        if client.name == name:
            return client
    raise UsageError(f"nothing can be installed into `{name}`", f"name one of {', '.join(c.name for c in clients())}")


def prepare_install(home: Home, client: Client, environ: Mapping[str, str]) -> Prepared:
    """What `install` would do: what an earlier one added goes, and what is right today comes."""
    earlier = {Path(change.path): change for change in _taken_out(_record(home, client))}
    changes: list[Change] = []
    kept: list[Kept] = []
    server = servers.Program([sys.executable, *equipment.SERVER], _environment(environ))
    given = [f"{name}={value}" for name, value in server.environment.items()]
    hook = shlex.join([*(["env", *given] if given else []), sys.executable, *_HOOK])
    for place in client.install:
        path = _path(place, environ)
        now = _read(path)
        base = earlier[path].after if path in earlier else now
        entries = _without_empty(permanent.content(client, place, server, hook))
        try:
            after = permanent.added(base, entries, permanent.format_of(path.name))
        except NotReadable as error:
            raise _unusable(path, error) from error
        changes.append(Change(path, now, after))
        kept.append(permanent.keep(str(path), base, after, entries))
    return Prepared(changes, Record(client.name, kept))


def prepare_uninstall(home: Home, client: Client) -> Prepared:
    """What `uninstall` would do. Raises `NotFound` if nothing was installed."""
    record = _record(home, client)
    if record is None:
        raise NotFound(f"nothing is installed into {client.title}", f"blackbird install {client.name} would do it")
    return Prepared(_taken_out(record), None)


def installed(home: Home) -> list[Client]:
    """The clients that have it."""
    return [client for client in clients() if _place(home, client).exists()]


def carry_out(home: Home, client: Client, prepared: Prepared) -> None:
    """Write all of it, or nothing: what was written goes back if a later file cannot be."""
    record = _place(home, client)
    for change in prepared.changes:
        _refuse_protected(change.path)
    if prepared.record is not None:
        make_folder(record.parent)
        write_once(record, msgspec.json.encode(prepared.record), sync=True)
    done: list[Change] = []
    try:
        for change in prepared.changes:
            _write(change.path, change.after)
            done.append(change)
    except (WriteError, UsageError):
        for change in reversed(done):
            _write(change.path, change.before)
        if prepared.record is not None:
            record.unlink(missing_ok=True)
        raise
    if prepared.record is None:
        record.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            record.parent.rmdir()


def _taken_out(record: Record | None) -> list[Change]:
    changes = []
    for kept in record.files if record is not None else []:
        path = Path(kept.path)
        now = _read(path)
        if now is None:
            continue
        try:
            made = permanent.restored(kept, now)
        except NotReadable as error:
            raise _unusable(path, error) from error
        changes.append(Change(path, now, made.text, made.is_exact))
    return changes


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the server needs to find the memory, if it is not where it usually is."""
    names = ("BLACKBIRD_HOME", "PYTHONPATH")
    return {name: os.path.abspath(environ[name]) for name in names if environ.get(name)}  # noqa: PTH100 - a list, maybe


def _without_empty(entries: dict[str, object]) -> dict[str, object]:
    """Entries without tables that have nothing in them."""
    found = {key: _without_empty(value) if isinstance(value, dict) else value for key, value in entries.items()}
    return {key: value for key, value in found.items() if value != {}}


def _path(place: Permanent, environ: Mapping[str, str]) -> Path:
    chosen = environ.get(place.folder) if place.folder is not None else None
    paths = [Path(os.path.expanduser(name)) for name in place.paths]  # noqa: PTH111 - as in settings
    if chosen:
        paths = [Path(chosen).absolute() / path.name for path in paths]
    return next((path for path in paths if path.exists()), paths[-1])


def _read(path: Path) -> str | None:
    """The text of a file, or nothing if there is none."""
    try:
        if path.stat().st_size > _LONGEST_FILE:
            raise ReadError(f"{path} is too long to be settings", "look what it is")
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ReadError(f"{path} is not UTF-8", "mend it; nothing was changed") from error
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}", "make it readable; nothing was changed") from error


def _refuse_protected(path: Path) -> None:
    """A file that its owner may not write is not to be replaced, either, though its folder would allow it."""
    with contextlib.suppress(OSError):
        if not path.stat().st_mode & stat.S_IWUSR:
            raise WriteError(f"{path} is read-only", "make it writable, or add the entries by hand")


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
        return
    make_folder(path.parent, is_theirs=True)
    replace_file(path, text.encode(), is_theirs=True)


def _unusable(path: Path, error: NotReadable) -> UsageError:
    return UsageError(f"{path}: {error}", "mend it, or add the entries by hand; nothing was changed")


def _place(home: Home, client: Client) -> Path:
    return home.path / FOLDER / f"{client.name}.json"


def _record(home: Home, client: Client) -> Record | None:
    try:
        return msgspec.json.decode(_place(home, client).read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise ReadError(f"{_place(home, client)} cannot be read", "take the entries out by hand") from error
