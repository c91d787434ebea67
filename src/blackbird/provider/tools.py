"""How a step of the script becomes a call of one of the tools that the client offers, whatever it calls them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: What clients call a tool that reads, runs or edits, likeliest first.
NAMES: Mapping[str, tuple[str, ...]] = {
    "read": ("read_file", "read", "view", "open_file"),
    "run": ("run_command", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "execute_command"),
    "edit": ("edit_file", "edit", "replace", "str_replace"),
    "search": ("memory_search",),
    "get": ("memory_get",),
}
_PATHS = ("path", "file_path", "filePath", "absolute_path")
_COMMANDS = ("command", "cmd")
_OLD = ("old", "old_string", "oldString", "oldText", "old_str")
_NEW = ("new", "new_string", "newString", "newText", "new_str")
#: The one argument of a tool that takes a script.
SCRIPT = "script"
_BY_TYPE: Mapping[str, Any] = {"integer": 1, "number": 1, "boolean": False, "array": []}


@dataclass(frozen=True, slots=True)
class Action:
    """A step in nobody's words: read a file, run a command, replace a text in a file, or ask the memory."""

    verb: str
    what: str
    old: str = ""
    new: str = ""

    def as_command(self) -> "Action":
        """The same as a shell command, for clients that offer nothing else."""
        command = {
            "read": f"cat {self.what}",
            "edit": f"sed -i 's/{self.old}/{_escaped(self.new)}/' {self.what}",
            "search": f'blackbird mem search "{self.what}"',
            "get": f"blackbird mem get {self.what}",
        }.get(self.verb, self.what)
        return Action("run", command)


def _escaped(text: str) -> str:
    return text.replace("\n", "\\n")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer; `schema` is the JSON schema of its arguments, unless it takes a script that calls others."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    takes_script: bool = False
    namespace: str = ""
    #: It finds tools that are not on offer by themselves.
    finds_tools: bool = False


def use(tools: Sequence[Tool], action: Action, folder: str) -> tuple[Tool, dict[str, Any]]:
    """The tool to call for the action, and its arguments; the first tool is asked if none fits."""
    tool = _named(tools, NAMES[action.verb])
    finder = next((each for each in tools if each.finds_tools), None)
    if tool is None and finder is not None and action.verb in ("search", "get"):
        return finder, {"query": NAMES[action.verb][0]}
    if tool is None:
        action = action.as_command()
        scripted = next((each for each in tools if each.takes_script), None)
        tool = _named(tools, NAMES["run"]) or scripted or tools[0]
    if tool.takes_script:
        command = json.dumps(action.what)
        return tool, {SCRIPT: f"const done = await tools.exec_command({{cmd: {command}}});\ntext(done.output);\n"}
    return tool, _arguments(tool.schema, action, folder)


def _named(tools: Iterable[Tool], names: Iterable[str]) -> Tool | None:
    by_name = {tool.name.lower(): tool for tool in tools}
    exact = next((by_name[name] for name in names if name in by_name), None)
    # Clients put the name of a server before those of its tools.
    ends = tuple(name for name in names if name.startswith("memory_"))
    return exact or next((tool for name, tool in by_name.items() if ends and name.endswith(ends)), None)


def _known(action: Action, folder: str) -> dict[str, Any]:
    path = f"{folder.rstrip('/')}/{action.what}" if folder else action.what
    values: dict[str, Any] = dict.fromkeys(_COMMANDS, action.what)
    if action.verb in ("search", "get"):
        return {"query" if action.verb == "search" else "id": action.what}
    if action.verb != "run":
        values.update(dict.fromkeys(_PATHS, path))
    values.update(dict.fromkeys(_OLD, action.old))
    values.update(dict.fromkeys(_NEW, action.new))
    values["description"] = f"{action.verb} step"
    return values


def _arguments(schema: Mapping[str, Any], action: Action, folder: str) -> dict[str, Any]:
    """Arguments that satisfy the schema: those that the action knows, and a filler for what else is required."""
    known = _known(action, folder)
    required = schema.get("required", ())
    arguments: dict[str, Any] = {}
    for key, spec in (schema.get("properties") or {}).items():
        if key in known and (key in required or key in _PATHS + _COMMANDS + _OLD + _NEW):
            arguments[key] = known[key]
        elif _has_parts(spec):
            arguments[key] = [_arguments(spec["items"], action, folder)]
        elif key in required:
            arguments[key] = sample(spec, "x")
    return arguments


def _has_parts(spec: Mapping[str, Any]) -> bool:
    """Whether it is a list of replacements, as of a tool that does several at once."""
    parts = (spec.get("items") or {}).get("properties") or {} if spec.get("type") == "array" else {}
    return any(key in parts for key in _OLD) and any(key in parts for key in _NEW)


def sample(schema: Mapping[str, Any], text: str) -> Any:
    """A value that satisfies a JSON schema; `text` wherever any text will do."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "")).lower()
    if kind == "object":
        parts = (schema.get("properties") or {}).items()
        return {key: sample(spec, text) for key, spec in parts if key in schema.get("required", ())}
    return _BY_TYPE.get(kind, text)
