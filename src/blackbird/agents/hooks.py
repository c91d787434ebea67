"""How a client is told to say what its tools did: by its settings, its arguments or a plugin, for one child. Pure."""

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

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


class Attached(msgspec.Struct, frozen=True):
    """What the child gets: its arguments and variables; and what has to be in `file` then, if anything."""

    arguments: list[str]
    variables: dict[str, str] = {}
    file: bytes | None = None
    notes: list[str] = []


def wanted(client: Client, arguments: Sequence[str]) -> Hooks | None:
    """The hooks of a client, unless it is started for something else than to work."""
    words = arguments[1:]
    if client.session is not None and any(word in client.session.commands for word in words):
        return None
    return client.hooks


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
    program: Program,
    contents: Sequence[dict[str, Any] | None],
    file: str,
) -> Attached:
    """Settings with the hooks, in the place of those that were given; `contents` is what these say.

    What came from a file goes into `file`: it may hold what is nobody's business, and arguments are everybody's.
    """
    theirs = given(hooks, arguments)
    if None in contents:
        note = f"your {hooks.option} cannot be read, so {client.title} is not asked what its tools did"
        return Attached(list(arguments), notes=[note])
    merged: dict[str, Any] = {}
    for content in contents:
        merged = _merged(merged, content or {})
    entry = {"matcher": "*", "hooks": [_handler(program.command(client.name))]}
    merged = _merged(merged, {"hooks": {event: [entry] for event in hooks.events}})
    text = json.dumps(merged, ensure_ascii=False)
    taken = {at for each in theirs for at in (each.first, each.last)}
    rest = [word for at, word in enumerate(arguments) if at not in taken]
    if all(each.is_inline for each in theirs):
        return Attached([rest[0], hooks.option, text, *rest[1:]])
    return Attached([rest[0], hooks.option, file, *rest[1:]], file=text.encode())


def by_overrides(client: Client, hooks: Hooks, arguments: Sequence[str], program: Program) -> Attached:
    """Settings one by one in the arguments, with the client's own proof that this user wants just these hooks."""
    # The client does not wait for it, and does not tell its user of it.
    handler = _handler(program.command(client.name)) | {"async": True}
    words: list[str] = []
    trusted: dict[str, str] = {}
    for event in hooks.events:
        words += [hooks.option, f"hooks.{event}=[{{hooks=[{_toml(handler)}]}}]"]
        label = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).removeprefix("_")
        trusted[f"{_CODEX_SOURCE}:{label}:0:0"] = _codex_hash(label, handler)
    states = ", ".join(f"{_text(key)}={{trusted_hash={_text(value)}}}" for key, value in trusted.items())
    words += [hooks.option, f"hooks.state={{{states}}}"]
    return Attached([arguments[0], *words, *arguments[1:]])


def by_plugin(
    client: Client, hooks: Hooks, arguments: Sequence[str], program: Program, variables: Mapping[str, str]
) -> Attached:
    """A plugin, named in the configuration that a variable holds; `variables` are the child's so far."""
    try:
        content = json.loads(variables.get(hooks.variable) or "{}")
    except ValueError:
        content = None
    if not isinstance(content, dict) or not isinstance(content.get("plugin", []), list):
        note = f"your {hooks.variable} cannot be read, so {client.title} is not asked what its tools did"
        return Attached(list(arguments), notes=[note])
    content["plugin"] = [*content.get("plugin", []), f"{program.plugins}/{hooks.plugin}"]
    told = {"BLACKBIRD_HOOK": json.dumps(program.command(client.name)), hooks.variable: json.dumps(content)}
    return Attached(list(arguments), told)


def _handler(command: Iterable[str]) -> dict[str, Any]:
    return {"type": "command", "command": shlex.join(command), "timeout": _TIMEOUT}


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


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the second before the first; lists of both, since hooks of one are no reason to forget the other's."""
    both = dict(first)
    for key, value in second.items():
        before = both.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            both[key] = _merged(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            both[key] = before + value
        else:
            both[key] = value
    return both
