"""The certificates a child process is to trust, in one file: what it would trust anyway, and ours.

Nothing is installed anywhere: the file counts for a process whose variables name it, and for no other.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from blackbird.authority import ca, roots
from blackbird.home import Home
from blackbox.disk import write_once
from blackbox.errors import ReadError


def bundle(home: Home, environ: Mapping[str, str]) -> Path:
    """The file for a process with this environment; its name says its content, so it never changes under a reader.

    Raises `ReadError` if no CA was made yet.
    """
    path = ca.certificate_path(home)
    try:
        ours = roots.split(path.read_bytes())
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}", ca.RENEW) from error
    if not ours:
        raise ReadError(f"{path} is no certificate", ca.RENEW)
    data = join([*roots.find(environ).certificates, *ours])
    target = ca.folder(home) / f"bundle-{hashlib.sha256(data).hexdigest()[:16]}.pem"
    if not target.is_file() or target.read_bytes() != data:
        write_once(target, data, sync=False)
    return target


def join(certificates: list[bytes]) -> bytes:
    """Certificates as a file of them: each once, in their order."""
    return b"".join(each + b"\n" for each in dict.fromkeys(certificates))
