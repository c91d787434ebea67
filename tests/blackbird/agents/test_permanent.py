"""What `install` adds for each client, and how it goes again."""

import tomllib

import pytest

from blackbird.agents import blocks, permanent, servers, table
from blackbird.agents.jsonc import NotReadable
from blackbird.agents.permanent import Restored

PROGRAM = servers.Program(["/opt/py", "-m", "door"], {"BLACKBIRD_HOME": "/h"})
SETTINGS = '# mine\nmodel = "x" # y\n[mcp_servers.a]\ncommand = "b"'


def entries(name: str, at: int = 0) -> dict[str, object]:
    client = table.find(name)
    assert client is not None
    return permanent.content(client, client.install[at], PROGRAM, "greet")


def test_claude_is_told_of_the_server_and_lets_its_tools_be_used() -> None:
    assert entries("claude")["mcpServers"] == {
        "blackbird": {
            "type": "stdio",
            "command": "/opt/py",
            "args": ["-m", "door"],
            "env": PROGRAM.environment,
            "alwaysLoad": True,
        }
    }
    settings = entries("claude", 1)
    assert settings["permissions"] == {"allow": [f"mcp__blackbird__{name}" for name in servers.TOOLS]}
    hook = {"type": "command", "command": "greet", "timeout": 10}
    assert settings["hooks"] == {"SessionStart": [{"matcher": "*", "hooks": [hook]}]}


def test_codex_gets_a_block_at_the_end() -> None:
    after = permanent.added(SETTINGS, entries("codex"), "toml")
    assert after.startswith(SETTINGS + "\n\n# >>> blackbird install")
    told = tomllib.loads(after)
    assert told["model"] == "x"
    assert told["mcp_servers"] == {
        "a": {"command": "b"},
        "blackbird": {
            "command": "/opt/py",
            "args": ["-m", "door"],
            "env": {"BLACKBIRD_HOME": "/h"},
            "default_tools_approval_mode": "approve",
        },
    }
    assert told["hooks"]["SessionStart"][0]["hooks"][0]["command"] == "greet"


@pytest.mark.parametrize("before", [None, "", SETTINGS, SETTINGS + "\n"])
def test_a_text_that_nobody_changed_is_as_before(before: str | None) -> None:
    after = permanent.added(before, entries("codex"), "toml")
    kept = permanent.keep("config.toml", before, after, entries("codex"))
    assert permanent.restored(kept, after) == Restored(before, is_exact=True)
    changed = permanent.restored(kept, f"new = 1\n{after}")
    assert changed.is_exact is False
    assert tomllib.loads(changed.text or "") == {"new": 1, **tomllib.loads(before or "")}


@pytest.mark.parametrize(
    "before",
    [
        "a = ",
        "mcp_servers = {a = {command = 'b'}}",
        "[mcp_servers.blackbird]\ncommand = 'mine'",
        "[mcp_servers.blackbird.env]\nMINE = '1'",
    ],
)
def test_settings_that_cannot_be_added_to_are_refused(before: str) -> None:
    with pytest.raises(NotReadable):
        permanent.added(before, entries("codex"), "toml")


def test_a_block_is_added_once() -> None:
    after = permanent.added("", entries("codex"), "toml")
    with pytest.raises(NotReadable, match="a block of blackbird is there already"):
        blocks.added(after, entries("codex"))


def test_values_are_spelled_as_toml_reads_them() -> None:
    value = {"a b": ['x\n"y"', 1, True, {"é": "\x7f"}]}
    assert tomllib.loads(f"v = {blocks.inline(value)}") == {"v": value}
