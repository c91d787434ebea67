"""Whether a process runs."""

import contextlib
import os
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended does not, even if nobody has asked how."""
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    with contextlib.suppress(OSError):
        # Where nobody collects orphans, as in many containers, an ended process keeps its number.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
