"""Base URLs that the user's own files hold: read, so that a run's stand for them; never written."""

import contextlib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from blackbird.agents.table import Client, Setting

_LONGEST_FILE = 4 << 20
_ASSIGNMENT = re.compile(r"""\s*(?:export\s+)?(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s#]*))""")


def find(client: Client, environ: Mapping[str, str]) -> list[tuple[Setting, str]]:
    """The base URLs in the client's files; a file that cannot be read is the client's affair."""
    return list(_find(client, environ))


def _find(client: Client, environ: Mapping[str, str]) -> Iterator[tuple[Setting, str]]:
    for setting in client.files:
        content: Any = _read(_path(setting, environ))
        for word in setting.key.split("."):
            content = content.get(word) if isinstance(content, dict) else None
        if isinstance(content, str) and content:
            yield setting, content


def content(value: str) -> dict[str, Any] | None:
    """The settings that an argument holds, or names the file of; nothing if they cannot be read."""
    try:
        found = msgspec.json.decode(value) if value.lstrip().startswith("{") else _read(Path(value))
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) else None


def _path(setting: Setting, environ: Mapping[str, str]) -> Path:
    chosen = environ.get(setting.folder) if setting.folder is not None else None
    path = _expanded(setting.path)
    return path if not chosen else Path(chosen) / path.name


def _expanded(name: str) -> Path:
    return Path(os.path.expanduser(name))  # noqa: PTH111 - Path.expanduser raises where there is no home


def _read(path: Path) -> Any:
    try:
        if path.stat().st_size > _LONGEST_FILE:
            return None
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else msgspec.json.decode(text)
    except (OSError, ValueError, msgspec.DecodeError):
        return None


def dotenv(client: Client, folder: Path) -> dict[str, str]:
    """The variables in the nearest `.env` file that the client itself reads; the environment goes before it."""
    above = [folder, *folder.parents]
    root = next((at for at, place in enumerate(above) if (place / ".git").exists()), 0)
    for name in client.dotenv:
        places = [_expanded(name)] if name.startswith("~") else [place / name for place in above[: root + 1]]
        for path in places:
            found = _assignments(path)
            if found is not None:
                return {key: value for key, value in found.items() if key in client.variables and value}
    return {}


def _assignments(path: Path) -> dict[str, str] | None:
    """What a `.env` file says, or nothing if there is none."""
    with contextlib.suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= _LONGEST_FILE:
            lines = map(_ASSIGNMENT.match, path.read_text(encoding="utf-8").splitlines())
            return {line[1]: line[2] or line[3] or line[4] or "" for line in lines if line is not None}
    return None
