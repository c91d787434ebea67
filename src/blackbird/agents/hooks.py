"""How a client is told to say what its tools did: by its settings, its arguments or a plugin, for one child. Pure."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from blackbird.agents.merging import Attached, joined, merged
from blackbird.agents.table import Client, Hooks

#: How long a client may wait for a hook, in seconds; it takes some milliseconds.
_TIMEOUT = 5
#: By which name Codex knows a hook that stands in its arguments.
_CODEX_SOURCE = "/<session-flags>/config.toml"
_END_OF_OPTIONS = "--"


class Program(NamedTuple):
    """The hook program and the recorder's configuration, by their full paths."""

    path: str
    config: str
    #: Where the plugin for a client is, by its name in the table.
    plugins: str

    def command(self, client: str) -> list[str]:
        """What a client starts for each tool call."""
        return [self.path, "hook", "--config", self.config, "--client", client]


class Given(NamedTuple):
    """Settings that stand in the arguments: which words, and what they say; nothing if that cannot be read."""

    first: int
    last: int
    value: str

    @property
    def is_inline(self) -> bool:
        """Whether they are there themselves, and not the name of a file."""
        return self.value.lstrip().startswith("{")


class Handler(NamedTuple):
    """A hook: on which event, and what is started then. What it says is heard only if it is waited for."""

    event: str
    command: list[str]
    is_awaited: bool = False


def is_at_work(client: Client, arguments: Sequence[str]) -> bool:
    """Whether a client is started to work, and not for something else."""
    return client.session is None or not any(word in client.session.commands for word in arguments[1:])


def wanted(client: Client, arguments: Sequence[str]) -> Hooks | None:
    """The hooks of a client, unless it is started for something else than to work."""
    return client.hooks if is_at_work(client, arguments) else None


def of_tools(client: Client, hooks: Hooks, program: Program) -> list[Handler]:
    """The hooks by which a client says what its tools did."""
    return [Handler(event, program.command(client.name)) for event in hooks.events]


def given(hooks: Hooks, arguments: Sequence[str]) -> list[Given]:
    """The settings in the arguments, in order."""
    found: list[Given] = []
    for at, word in enumerate(arguments):
        if word == _END_OF_OPTIONS:
            break
        if word == hooks.option and at + 1 < len(arguments):
            found.append(Given(at, at + 1, arguments[at + 1]))
        elif word.startswith(f"{hooks.option}="):
            found.append(Given(at, at, word.partition("=")[2]))
    return found


def by_settings(
    client: Client,
    hooks: Hooks,
    arguments: Sequence[str],
    handlers: Sequence[Handler],
    contents: Sequence[dict[str, Any] | None],
    file: str,
) -> Attached:
    """Settings with the hooks, in the place of those that were given; `contents` is what these say.

    What came from a file goes into `file`: it may hold what is nobody's business, and arguments are everybody's.
    """
    theirs = given(hooks, arguments)
    if None in contents:
        note = f"your {hooks.option} cannot be read, so {client.title} gets no hooks of ours"
        return Attached(list(arguments), notes=[note])
    whole: dict[str, Any] = {}
    for content in contents:
        whole = merged(whole, content or {})
    for each in handlers:
        entry = {"matcher": "*", "hooks": [_spelled(each)]}
        whole = merged(whole, {"hooks": {each.event: [entry]}})
    text = json.dumps(whole, ensure_ascii=False)
    taken = {at for each in theirs for at in (each.first, each.last)}
    rest = [word for at, word in enumerate(arguments) if at not in taken]
    if all(each.is_inline for each in theirs):
        return Attached([rest[0], hooks.option, text, *rest[1:]])
    return Attached([rest[0], hooks.option, file, *rest[1:]], file=text.encode())


def by_overrides(hooks: Hooks, arguments: Sequence[str], handlers: Sequence[Handler]) -> Attached:
    """Settings one by one in the arguments, with the client's own proof that this user wants just these hooks."""
    words: list[str] = []
    trusted: dict[str, str] = {}
    for each in handlers:
        # The client does not wait for one that has nothing to say, and does not tell its user of it.
        handler = _spelled(each) | {"async": not each.is_awaited}
        words += [hooks.option, f"hooks.{each.event}=[{{hooks=[{_toml(handler)}]}}]"]
        label = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in each.event).removeprefix("_")
        trusted[f"{_CODEX_SOURCE}:{label}:0:0"] = _codex_hash(label, handler)
    states = ", ".join(f"{_text(key)}={{trusted_hash={_text(value)}}}" for key, value in trusted.items())
    words += [hooks.option, f"hooks.state={{{states}}}"]
    return Attached([arguments[0], *words, *arguments[1:]])


def by_plugin(
    client: Client, hooks: Hooks, arguments: Sequence[str], program: Program, variables: Mapping[str, str]
) -> Attached:
    """A plugin, named in the configuration that a variable holds; `variables` are the child's so far."""
    plugin = {"plugin": [f"{program.plugins}/{hooks.plugin}"]}
    made = joined(client, hooks.variable, plugin, arguments, variables, "plugin of ours")
    if not made.variables:
        return made
    return Attached(made.arguments, {"BLACKBIRD_HOOK": json.dumps(program.command(client.name)), **made.variables})


def _spelled(handler: Handler) -> dict[str, Any]:
    return {"type": "command", "command": shlex.join(handler.command), "timeout": _TIMEOUT}


def _codex_hash(label: str, handler: Mapping[str, Any]) -> str:
    """The digest under which Codex keeps that a user trusts a hook: of the hook as it understood it."""
    identity = {"event_name": label, "hooks": [handler]}
    spelled = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(spelled.encode()).hexdigest()


def _toml(table: Mapping[str, Any]) -> str:
    fields = (
        f"{key}={_text(value) if isinstance(value, str) else json.dumps(value)}" for key, value in table.items()
    )
    return "{" + ", ".join(fields) + "}"


def _text(value: str) -> str:
    """A text as TOML spells it, which is as JSON does."""
    return json.dumps(value, ensure_ascii=False)
