"""How clients are made to say what their tools did: by settings, overrides or a plugin."""

import json
import shlex
import tomllib
from typing import Any

from hypothesis import given as example
from hypothesis import strategies as st

from blackbird.agents import hooks, table
from blackbird.agents.hooks import Program
from blackbird.agents.merging import Attached
from blackbird.agents.table import Client, Hooks

PROGRAM = Program("/opt/bb/blackbird-recorder", "/home/u/my data/run/recorder.json", "file:///opt/bb/agents")
FILE = "/home/u/my data/run/hooks-run_1.json"


def known(name: str) -> tuple[Client, Hooks]:
    client = next(each for each in table.clients() if each.name == name)
    assert client.hooks is not None
    return client, client.hooks


def claude(*words: str, contents: list[dict[str, Any] | None] | None = None) -> Attached:
    client, wanted = known("claude")
    arguments = ["claude", *words]
    inline = [json.loads(each.value) for each in hooks.given(wanted, arguments)] if contents is None else contents
    return hooks.by_settings(client, wanted, arguments, hooks.of_tools(client, wanted, PROGRAM), inline, FILE)


def command(client: str) -> str:
    return shlex.join(["/opt/bb/blackbird-recorder", "hook", "--config", PROGRAM.config, "--client", client])


def test_claude_gets_settings_with_three_hooks() -> None:
    made = claude("-p", "hello")
    assert (made.arguments[:2], made.arguments[3:]) == (["claude", "--settings"], ["-p", "hello"])
    entry = {"matcher": "*", "hooks": [{"type": "command", "command": command("claude"), "timeout": 5}]}
    events = ["PreToolUse", "PostToolUse", "PostToolUseFailure"]
    assert json.loads(made.arguments[2]) == {"hooks": {event: [entry] for event in events}}
    assert (made.file, made.variables, made.notes) == (None, {}, [])


def test_settings_of_the_user_are_kept() -> None:
    theirs = {"model": "m", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}], "Stop": [{"hooks": []}]}}
    made = claude("--settings", json.dumps(theirs), "-p", "x")
    merged = json.loads(made.arguments[2])
    assert made.arguments[3:] == ["-p", "x"]
    assert (merged["model"], merged["hooks"]["Stop"]) == ("m", [{"hooks": []}])
    assert [entry["matcher"] for entry in merged["hooks"]["PreToolUse"]] == ["Bash", "*"]


def test_what_came_from_a_file_goes_into_a_file() -> None:
    made = claude("--settings=mine.json", contents=[{"env": {"TOKEN": "t"}}])
    assert made.arguments == ["claude", "--settings", FILE]
    assert json.loads(made.file or b"")["env"] == {"TOKEN": "t"}


def test_settings_that_cannot_be_read_stay_as_they_are() -> None:
    made = claude("--settings", "gone.json", contents=[None])
    assert made.arguments == ["claude", "--settings", "gone.json"]
    assert made.notes == ["your --settings cannot be read, so Claude Code gets no hooks of ours"]


def test_a_prompt_is_no_option() -> None:
    _, wanted = known("claude")
    assert hooks.given(wanted, ["claude", "--", "--settings", "{}"]) == []


def test_a_client_that_is_to_do_something_else_has_no_hooks() -> None:
    client, wanted = known("claude")
    assert hooks.wanted(client, ["claude", "mcp", "list"]) is None
    assert hooks.wanted(client, ["claude", "-p", "x"]) == wanted


def test_codex_gets_overrides_and_trusts_just_these() -> None:
    client, wanted = known("codex")
    made = hooks.by_overrides(wanted, ["codex", "exec", "x"], hooks.of_tools(client, wanted, PROGRAM))
    assert made.arguments[-2:] == ["exec", "x"]
    assert made.arguments[1:-2:2] == ["-c", "-c", "-c"]
    before, after, state = (tomllib.loads(word)["hooks"] for word in made.arguments[2:-2:2])
    handler = {"type": "command", "command": command("codex"), "timeout": 5, "async": True}
    assert (before, after) == ({"PreToolUse": [{"hooks": [handler]}]}, {"PostToolUse": [{"hooks": [handler]}]})
    # Seen with Codex 0.166.0: with any other digest it does not run the hook.
    assert state["state"] == {
        "/<session-flags>/config.toml:pre_tool_use:0:0": {
            "trusted_hash": "sha256:87979a63fc14ce7cdb6628beb0df8c23f71da58ce6899a6da076d6a40044e246",
        },
        "/<session-flags>/config.toml:post_tool_use:0:0": {
            "trusted_hash": "sha256:f39214b98db2b1c153c67b91913c5ed80f08701baec72e3025a5bbad159eca4e",
        },
    }


def test_opencode_gets_a_plugin_beside_those_of_its_user() -> None:
    client, wanted = known("opencode")
    variables = {"OPENCODE_CONFIG_CONTENT": '{"plugin": ["theirs"], "model": "m"}'}
    made = hooks.by_plugin(client, wanted, ["opencode", "run"], PROGRAM, variables)
    assert made.arguments == ["opencode", "run"]
    content = json.loads(made.variables["OPENCODE_CONFIG_CONTENT"])
    assert content == {"plugin": ["theirs", "file:///opt/bb/agents/opencode.js"], "model": "m"}
    assert json.loads(made.variables["BLACKBIRD_HOOK"]) == PROGRAM.command("opencode")


def test_a_configuration_that_cannot_be_read_stays_as_it_is() -> None:
    client, wanted = known("opencode")
    for text in ("no", "[]", '{"plugin": 1}'):
        made = hooks.by_plugin(client, wanted, ["opencode"], PROGRAM, {"OPENCODE_CONFIG_CONTENT": text})
        assert made.variables == {}
        assert made.notes == ["your OPENCODE_CONFIG_CONTENT cannot be read, so opencode gets no plugin of ours"]


@example(st.text(max_size=30).filter(lambda text: "\x7f" not in text))
def test_any_path_survives_the_spelling(name: str) -> None:
    client, wanted = known("codex")
    program = PROGRAM._replace(config=f"/home/{name}")
    made = hooks.by_overrides(wanted, ["codex"], hooks.of_tools(client, wanted, program))
    (entry,) = tomllib.loads(made.arguments[2])["hooks"]["PreToolUse"]
    assert shlex.split(entry["hooks"][0]["command"])[3] == f"/home/{name}"
