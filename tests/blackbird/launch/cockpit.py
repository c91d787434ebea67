"""The command `blackbird run` as a process: its own home, a recorder of its own, a scripted provider behind it."""

import json
import os
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blackbird.config.load import load
from blackbird.home import Home
from blackbird.provider import Provider
from blackbird.recorder import process
from tests.recorder import trace_view

PATIENCE = 60
BLACKBIRD = Path(sysconfig.get_path("scripts")) / "blackbird"
#: Nothing of whoever runs the tests is to be seen by a child.
_CLEARED = (
    "BLACKBIRD_",
    "ANTHROPIC_",
    "OPENAI_",
    "GOOGLE_",
    "GEMINI_",
    "OLLAMA_",
    "LM_STUDIO_",
    "CODEX_",
    "COPILOT_",
)
#: The setting by which an agent is given what the memory knows.
INJECT = "BLACKBIRD_CONTEXT_INJECT"
_PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}


#: The programs that tests start, and few whose versions are asked for.
_PATH = "/usr/local/bin:/usr/bin:/bin"
Done = subprocess.CompletedProcess[bytes]


class Cockpit:
    """A user with a home folder, and what that user types."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        self.folder = folder
        self.provider = provider
        self.user = folder / "user"
        self.work = folder / "work"
        for place in (self.user, self.work):
            place.mkdir()
        self.home = Home(folder / "bb", folder / "bb" / "config.toml")
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(_CLEARED) and name.lower() not in _PROXIES
        }
        own = {"HOME": str(self.user), "BLACKBIRD_HOME": str(self.home.path), "NO_COLOR": "1", "PATH": _PATH}
        # What earlier tests of a module left is no concern of a later one's agent; tests of the memory turn it on.
        self.environ = {**kept, **own, INJECT: "false"}

    def up(self, **upstreams: str) -> None:
        """Start the recorder; every upstream is the scripted provider unless told otherwise."""
        names = ("anthropic", "openai", "gemini", "ollama", "lmstudio")
        chosen = dict.fromkeys(names, self.provider.url) | upstreams
        options = [("test", f"upstreams.{name}", url) for name, url in chosen.items()]
        listen = ("test", "proxy.listen", "127.0.0.1:0")
        process.up(self.home, load(self.home, [listen, *options], variables={}, folder=self.folder))

    def down(self) -> None:
        process.down(self.home)

    def argv(self, *words: str) -> list[str]:
        return [str(BLACKBIRD), "run", *words]

    def run(self, *words: str, data: bytes = b"", environ: Mapping[str, str] | None = None) -> Done:
        """The command to its end."""
        return self.direct(*self.argv(*words), data=data, environ=environ)

    def direct(self, *words: str, data: bytes = b"", environ: Mapping[str, str] | None = None) -> Done:
        """Any program as this user."""
        return subprocess.run(
            words,
            input=data,
            capture_output=True,
            env={**self.environ, **(environ or {})},
            cwd=self.work,
            timeout=PATIENCE,
            check=False,
        )

    def flight(self, *words: str, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
        """How a run went, as it says itself."""
        done = self.run("--json", *words, environ=environ)
        last = done.stderr.decode().splitlines()[-1]
        found: dict[str, Any] = json.loads(last)
        assert found["schema"] == "run/1", done.stderr
        return found

    def events(self, run: str) -> list[tuple[str, dict[str, Any]]]:
        """What was stated about a run, in order."""
        records = [each.json for each in trace_view.records(self.home.trace) if each.kind == trace_view.HARNESS_EVENT]
        return [(each["event"], each["data"]) for each in records if each["run"] == run]

    def exchanges(self, run: str) -> list[trace_view.Exchange]:
        """The requests of a run."""
        return [each for each in trace_view.exchanges(self.home.trace) if each.start["run"] == run]

    def program(self, name: str, text: str) -> str:
        """A program of this name on the user's PATH."""
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(text)
        path.chmod(0o755)
        self.environ["PATH"] = f"{folder}:{_PATH}"
        return str(path)
