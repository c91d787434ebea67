"""Files and folders for their owner's eyes alone: 0600 and 0700 under any umask, whole or not at all."""

import contextlib
import errno
import io
import os
import stat
import tempfile
from pathlib import Path

from blackbox.errors import UsageError, WriteError

#: Folders in which agents and version control keep their own files. Nothing of ours belongs there.
FOREIGN = frozenset(
    {".aider", ".claude", ".codex", ".continue", ".copilot", ".cursor", ".gemini", ".git", ".opencode", ".qwen"}
)
_FOREIGN_PATHS = ((".config", "opencode"), (".local", "share", "opencode"))

FILE_MODE = stat.S_IRUSR | stat.S_IWUSR
FOLDER_MODE = stat.S_IRWXU

_REASONS = {
    errno.ENOENT: ("no such folder", "create the folder first"),
    errno.ENOTDIR: ("its parent is not a folder", "check the path"),
    errno.EACCES: ("permission denied", "choose a folder you may write to"),
    errno.EPERM: ("permission denied", "choose a folder you may write to"),
    errno.EROFS: ("the file system is read-only", "choose another folder"),
    errno.EISDIR: ("is a directory", "name a file in it"),
    errno.ENOSPC: ("no space left on the device", "free some space; what was written before is intact"),
    errno.EDQUOT: ("the disk quota is used up", "free some space; what was written before is intact"),
    errno.EFBIG: ("the file may not grow any further", "set rotate_bytes, or raise the limit on file sizes"),
}


def write_error(path: object, error: OSError | ValueError) -> WriteError:
    """The operating system's complaint, in the words of this package."""
    number = error.errno if isinstance(error, OSError) else None
    text = error.strerror if isinstance(error, OSError) else None
    reason, remedy = _REASONS.get(number or 0, (text or str(error), "check the disk and the path"))
    return WriteError(f"{path}: {reason}", remedy)


def refuse_foreign(path: Path) -> None:
    """Refuse to write where another program keeps its files."""
    parts = Path(os.path.realpath(path)).parent.parts
    name = next((part for part in parts if part in FOREIGN), None)
    for foreign in _FOREIGN_PATHS:
        windows = (parts[at : at + len(foreign)] for at in range(len(parts)))
        if foreign in windows:
            name = "/".join(foreign)
    if name is not None:
        raise UsageError(f"{path}: {name} belongs to another program", "choose a folder of your own")


def create_file(path: Path) -> io.FileIO:
    """A new file to append to, readable for its owner alone; an existing one is never overwritten.

    Raises what the operating system says, so that the caller can tell a file that is there already.
    """
    refuse_foreign(path)
    file = _open(path, os.O_CREAT | os.O_EXCL)
    with contextlib.ExitStack() as undo:
        undo.callback(file.close)
        _set_mode(file.fileno(), FILE_MODE)
        undo.pop_all()
    return file


def reopen_file(path: Path) -> io.FileIO:
    """An existing file, to be written on at its end."""
    refuse_foreign(path)
    return _open(path, 0)


def make_folder(path: Path, *, is_theirs: bool = False) -> None:
    """A folder for its owner alone, with the folders above it that are missing; one that is there stays as it is.

    `is_theirs`: it is another program's, and its user asked for just this.
    """
    if not is_theirs:
        refuse_foreign(path / "file")
    missing = [path] if not path.is_dir() else []
    missing += [folder for folder in path.parents if missing and not folder.is_dir()]
    try:
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):
                folder.mkdir(FOLDER_MODE)
                folder.chmod(FOLDER_MODE)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    except OSError as error:
        raise write_error(path, error) from error


def replace_file(path: Path, data: bytes, *, is_theirs: bool = False) -> None:
    """Put `data` in place of the file's content, whole or not at all. Mode and symbolic links are kept.

    `is_theirs`: it is another program's, and its user asked for just this.
    """
    if not is_theirs:
        refuse_foreign(path)
    try:
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.exists() and not target.is_file():
            # A device or a named pipe is written to; renaming over it would replace it. A folder refuses.
            target.write_bytes(data)
        else:
            mode = target.stat().st_mode & 0o7777 if target.exists() else FILE_MODE
            _rename_in(target, data, mode)
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"{path}: could not be written: {reason}"
        raise WriteError(message, "check the folder's permissions and free space; nothing was changed") from error


def write_once(path: Path, data: bytes, *, sync: bool) -> None:
    """A file that appears under its name only when it is whole; `sync` makes it survive the end of the machine."""
    refuse_foreign(path)
    try:
        _rename_in(path, data, FILE_MODE, sync=sync)
    except OSError as error:
        raise write_error(path, error) from error
    if sync:
        sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Make what is in a file durable, whoever wrote it."""
    _sync(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))


def sync_folder(folder: Path) -> None:
    """Make a new file's name durable too. Windows has no such call and needs none."""
    if os.name != "nt":
        _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    try:
        handle = os.open(path, flags)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise write_error(path, error) from error


def _open(path: Path, flags: int) -> io.FileIO:
    flags |= os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    return io.FileIO(os.open(path, flags, FILE_MODE), "ab")


def _set_mode(handle: int, mode: int) -> None:
    """The mode asked for: a umask may have taken even the owner's rights away."""
    if hasattr(os, "fchmod"):
        os.fchmod(handle, mode)


def _rename_in(target: Path, data: bytes, mode: int, *, sync: bool = True) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as temporary:
            temporary.write(data)
            temporary.flush()
            if sync:
                os.fsync(temporary.fileno())
        os.chmod(name, mode)  # noqa: PTH101 - mkstemp gives a name
        os.replace(name, target)  # noqa: PTH105
    finally:
        # Gone already if it was renamed; left behind by nothing, not even by Ctrl-C.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108
