"""The tools that a library offers the model: read a file, run a command, replace a text in a file."""

import subprocess
from pathlib import Path


def read_file(path: str) -> str:
    """Read a file."""
    return Path(path).read_text(encoding="utf-8")


def run_command(command: str) -> str:
    """Run a shell command."""
    done = subprocess.run(  # noqa: S602 - the commands are scripted
        command, shell=True, capture_output=True, text=True, check=False, timeout=60
    )
    return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


def edit_file(path: str, old: str, new: str) -> str:
    """Replace a text in a file by another."""
    file = Path(path)
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return f"{path} was changed"
