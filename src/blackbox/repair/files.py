"""Writing a repaired log: into a temporary file beside the target, synced, then renamed over it."""

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from blackbox.errors import WriteError


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in place of the file's content, whole or not at all. Mode and symbolic links are kept."""
    try:
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.exists() and not target.is_file():
            # A device or a named pipe is written to; renaming over it would replace it. A folder refuses.
            target.write_bytes(data)
        else:
            _replace(target, data)
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"{path}: could not be written: {reason}"
        raise WriteError(message, "check the folder's permissions and free space; nothing was changed") from error


def _replace(target: Path, data: bytes) -> None:
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as temporary:
            temporary.write(data)
            temporary.flush()
            os.fsync(temporary.fileno())
        os.chmod(name, mode)  # noqa: PTH101 - mkstemp gives a name
        os.replace(name, target)  # noqa: PTH105
    finally:
        # Gone already if it was renamed; left behind by nothing, not even by Ctrl-C.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108
