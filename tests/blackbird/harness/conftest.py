"""A home with a scripted provider behind it; its recorder runs if somebody starts it."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from blackbird.home import Home
from blackbird.provider import Provider
from blackbird.recorder import process

if sys.platform == "win32":
    collect_ignore_glob = ["test_session.py", "test_stating.py"]  # there is no recorder


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
def home(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A folder with a short path, for the sake of the socket in it."""
    for name in ("SESSION", "TASK", "RUN", "HOME"):
        monkeypatch.delenv(f"BLACKBIRD_{name}", raising=False)
    with tempfile.TemporaryDirectory(prefix="bb") as folder:
        home = Home(Path(folder) / "home", Path(folder) / "home" / "config.toml")
        home.path.mkdir(mode=0o700)
        home.config_file.write_text(
            f'[proxy]\nlisten = "127.0.0.1:0"\n[upstreams]\nanthropic = "{provider.url}"\n', encoding="utf-8"
        )
        monkeypatch.chdir(folder)
        yield home
        process.down(home)
