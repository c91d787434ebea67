"""The pack before a flight: what each client is given, what a program finds, and what never stops an agent."""

import json
import shlex
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from blackbird.agents import servers
from tests.blackbird.launch.cockpit import BLACKBIRD, INJECT, Cockpit

DECIDED = "the crane is painted red, because the harbour master wants it"
#: An agent that does one task in which something is decided.
WORKER = f"""
import anthropic
asked = [{{"role": "user", "content": "Decision: {DECIDED}."}}]
with anthropic.Anthropic(api_key="sk-ant-made-up", max_retries=0) as client:
    client.messages.create(model="m", max_tokens=9, messages=asked)
"""
#: What it changes besides, so that there is something for git to see at the end.
PAINTING = """
import time
from pathlib import Path
time.sleep(0.5)
Path("crane.txt").write_text("red")
"""
#: A stand-in for any client: it keeps what it was started with, and what the files say that it was told of.
CLIENT = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path
if "--version" in sys.argv:
    sys.exit()
files = {{path.name: [oct(path.stat().st_mode & 0o777), path.read_text()]
         for path in Path(os.environ["BLACKBIRD_HOME"], "run").glob("pack-*")}}
Path("seen.json").write_text(json.dumps({{"arguments": sys.argv[1:], "environ": dict(os.environ), "files": files}}))
"""


@pytest.fixture(scope="module")
def informed(shared: Cockpit) -> Cockpit:
    """A user in whose memory there is something."""
    shared.environ[INJECT] = "true"
    shared.run("--session", "harbour", "--", sys.executable, "-c", WORKER)
    return shared


class Seen:
    """What a stand-in was started with."""

    def __init__(
        self,
        cockpit: Cockpit,
        name: str,
        *words: str,
        options: tuple[str, ...] = (),
        environ: dict[str, str] | None = None,
    ) -> None:
        cockpit.program(name, CLIENT)
        run = ("--session", "harbour", "--task", "paint", "--json", *options, "--", name, *words)
        done = cockpit.run(*run, environ=environ)
        found = json.loads((cockpit.work / "seen.json").read_text())
        (cockpit.work / "seen.json").unlink()
        self.told: dict[str, Any] = json.loads(done.stderr.decode().splitlines()[-1])
        self.stderr = done.stderr.decode()
        self.arguments: list[str] = found["arguments"]
        self.environ: dict[str, str] = found["environ"]
        self.files: dict[str, tuple[str, str]] = found["files"]

    @property
    def pack(self) -> str:
        """The text in the file that every child is told of."""
        mode, text = self.files[Path(self.environ["BLACKBIRD_PACK"]).name]
        assert mode == "0o600"
        return text

    def said(self, command: str) -> str:
        """What the hook says to its client."""
        program, dashes, path = shlex.split(command)
        assert (program, dashes) == ("cat", "--")
        answer = json.loads(self.files[Path(path).name][1])["hookSpecificOutput"]
        assert answer["hookEventName"] == "SessionStart"
        text: str = answer["additionalContext"]
        return text

    def server(self) -> dict[str, str]:
        """The environment that the server is to have."""
        names = ("BLACKBIRD_HOME", "BLACKBIRD_SESSION", "BLACKBIRD_TASK", "BLACKBIRD_RUN", "PYTHONPATH")
        return {name: self.environ[name] for name in names if name in self.environ}


SERVER = ["-m", "blackbird.doors.stdio"]


def python() -> str:
    """The interpreter of the command, as its first line names it."""
    return BLACKBIRD.read_text().splitlines()[0].removeprefix("#!")


@pytest.mark.requirement("HARNESS-04")
@pytest.mark.requirement("PACK-13")
def test_any_program_finds_the_pack_and_the_ids(informed: Cockpit) -> None:
    before = sorted(informed.user.rglob("*"))
    seen = Seen(informed, "some-agent", "--flag", "do it")
    assert DECIDED in seen.pack
    assert seen.arguments == ["--flag", "do it"]
    ids = [seen.environ[f"BLACKBIRD_{name}"] for name in ("SESSION", "TASK", "RUN")]
    assert ids == ["harbour", "paint", seen.told["run"]]
    assert seen.told["pack"]["tokens"] > 0
    assert not list(informed.home.run.glob("pack-*"))
    assert sorted(informed.user.rglob("*")) == before
    stated = dict(informed.events(seen.told["run"]))["run.pack"]
    assert stated["tokens"] == seen.told["pack"]["tokens"]


@pytest.mark.requirement("HARNESS-04")
def test_claude_is_told_by_a_hook_and_of_the_server(informed: Cockpit) -> None:
    seen = Seen(informed, "claude", "-p", "paint it", "--allowedTools", "Bash", options=("--no-hooks",))
    at = seen.arguments.index("--settings")
    (entry,) = json.loads(seen.arguments[at + 1])["hooks"]["SessionStart"]
    assert seen.said(entry["hooks"][0]["command"]) == seen.pack
    (config,) = [word for word in seen.arguments if word.startswith("--mcp-config=")]
    ours = {"type": "stdio", "command": python(), "args": SERVER, "env": seen.server(), "alwaysLoad": True}
    assert json.loads(config.partition("=")[2])["mcpServers"] == {"blackbird": ours}
    (allowed,) = [word for word in seen.arguments if word.startswith("--allowedTools=")]
    assert allowed.partition("=")[2].split(",") == [f"mcp__blackbird__{name}" for name in servers.TOOLS]
    assert seen.arguments[-4:] == ["-p", "paint it", "--allowedTools", "Bash"]


@pytest.mark.requirement("HARNESS-04")
def test_codex_is_told_by_a_hook_and_of_the_server(informed: Cockpit) -> None:
    seen = Seen(informed, "codex", "exec", "paint it", options=("--no-hooks",))
    assert set(seen.arguments[:-2:2]) == {"-c"}
    told = [tomllib.loads(word) for word in seen.arguments[1:-2:2]]
    (hook,) = [
        each["hooks"]["SessionStart"][0]["hooks"][0] for each in told if "SessionStart" in each.get("hooks", {})
    ]
    assert seen.said(hook["command"]) == seen.pack
    assert hook["async"] is False
    found: dict[str, Any] = {}
    for each in told:
        found |= each.get("mcp_servers", {}).get("blackbird", {})
    leave = {"default_tools_approval_mode": "approve"}
    assert found == {"command": python(), "args": SERVER, "env": seen.server(), **leave}


@pytest.mark.requirement("HARNESS-04")
def test_opencode_reads_the_pack_as_instructions_beside_those_of_its_user(informed: Cockpit) -> None:
    theirs: dict[str, Any] = {"instructions": ["mine.md"], "mcp": {"mine": {"type": "local", "command": ["m"]}}}
    seen = Seen(informed, "opencode", "run", "paint it", environ={"OPENCODE_CONFIG_CONTENT": json.dumps(theirs)})
    content = json.loads(seen.environ["OPENCODE_CONFIG_CONTENT"])
    assert content["instructions"] == ["mine.md", seen.environ["BLACKBIRD_PACK"]]
    assert content["mcp"]["mine"] == theirs["mcp"]["mine"]
    ours = {"type": "local", "command": [python(), *SERVER], "environment": seen.server(), "enabled": True}
    assert content["mcp"]["blackbird"] == ours
    assert DECIDED in seen.pack


@pytest.mark.requirement("HARNESS-04")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gemini", ["--yolo", "-p", "paint it"]),
        ("gemini", ["--prompt-interactive=paint it"]),
        ("gemini", ["-m", "flash", "paint it"]),
        ("qwen", ["-p", "paint it"]),
        ("copilot", ["-p", "paint it"]),
        ("mini", ["-t", "paint it"]),
    ],
)
def test_some_get_it_before_their_prompt(informed: Cockpit, name: str, words: list[str]) -> None:
    seen = Seen(informed, name, *words)
    option = words[-1].removesuffix("paint it")
    assert seen.arguments[-1] == f"{option}{seen.pack.replace('@', chr(92) + '@')}\n\npaint it"


@pytest.mark.parametrize(("name", "option"), [("aider", "--read"), ("pi", "--append-system-prompt")])
def test_some_read_a_file(informed: Cockpit, name: str, option: str) -> None:
    seen = Seen(informed, name, "hello")
    assert seen.arguments == [option, seen.environ["BLACKBIRD_PACK"], "hello"]
    assert DECIDED in seen.pack


def test_gemini_without_a_prompt_gets_none_and_its_user_is_told(informed: Cockpit) -> None:
    informed.program("gemini", CLIENT)
    done = informed.run("--session", "harbour", "--", "gemini")
    assert "Gemini CLI takes a pack with a prompt in its arguments alone" in done.stderr.decode()
    assert json.loads((informed.work / "seen.json").read_text())["arguments"] == []


def test_a_command_of_the_client_is_no_prompt(informed: Cockpit) -> None:
    assert Seen(informed, "gemini", "-p", "/stats").arguments == ["-p", "/stats"]


def test_without_a_pack_nothing_is_added(informed: Cockpit) -> None:
    seen = Seen(informed, "claude", "-p", "x", options=("--no-pack", "--no-hooks"))
    assert seen.arguments == ["--session-id", seen.arguments[1], "-p", "x"]
    assert "BLACKBIRD_PACK" not in seen.environ
    assert (seen.files, seen.told["pack"]) == ({}, None)


def test_a_setting_turns_it_off(informed: Cockpit) -> None:
    seen = Seen(informed, "some-agent", environ={INJECT: "false"})
    assert (seen.files, seen.told["pack"]) == ({}, None)


def test_without_tools_the_pack_is_there(informed: Cockpit) -> None:
    seen = Seen(informed, "qwen", "-p", "x", options=("--no-mcp",))
    assert seen.arguments == ["-p", f"{seen.pack}\n\nx"]


def test_a_memory_that_fails_never_stops_the_agent(informed: Cockpit) -> None:
    seen = Seen(informed, "some-agent", "x", environ={"BLACKBIRD_CONTEXT_BUDGET_TOKENS": "none"})
    assert seen.arguments == ["x"]
    first = seen.stderr.splitlines()[0]
    assert first.startswith("! No context pack: ")
    assert seen.told["exit_code"] == 0


def test_a_dry_run_shows_the_way_and_asks_nobody(alone: Cockpit) -> None:
    alone.program("claude", CLIENT)
    done = alone.run("--dry-run", "--json", "--", "claude", "-p", "x", environ={INJECT: "true"})
    plan = json.loads(done.stdout)
    assert any("pack-RUN.json" in word for word in plan["arguments"])
    assert plan["variables"]["BLACKBIRD_PACK"].endswith("pack-RUN.md")
    assert not alone.home.path.exists()


def test_the_end_tells_the_outcome(informed: Cockpit) -> None:
    work = informed.work / "repository"
    work.mkdir()
    (work / "crane.txt").write_text("blue\n")
    who = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    for words in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "--message", "all there is"]):
        subprocess.run(["git", *words], cwd=work, check=True)
    done = subprocess.run(
        informed.argv("--session", "harbour", "--json", "--", sys.executable, "-c", WORKER + PAINTING),
        cwd=work,
        env=informed.environ,
        capture_output=True,
        check=True,
    )
    told = json.loads(done.stderr.decode().splitlines()[-1])
    assert told["outcome"] == {
        "id": told["outcome"]["id"],
        "status": "unknown",
        "decided_by": None,
        "tests": [],
        "files": ["crane.txt"],
    }
    assert stat.S_IMODE(informed.home.run.stat().st_mode) == 0o700
