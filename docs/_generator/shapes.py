"""The JSON objects that commands print, as tables: hand-written ones, and those that structs describe."""

import decimal
import inspect
import re
import tomllib
import types
import typing

import msgspec

from _generator.places import PARTS
from blackbox.events import calls, comments, lifecycle, messages
from blackbox.syntax.kinds import PREFIXES, Kind
from blackbox.syntax.results import Blob, Result


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One key of a JSON object as schemas.toml describes it."""

    key: str
    type: str
    text: str
    optional: bool = False


def shapes() -> dict[str, list[Field]]:
    """The hand-written shapes by name."""
    with (PARTS / "schemas.toml").open("rb") as source:
        return msgspec.convert(tomllib.load(source), dict[str, list[Field]])


def shape_table(name: str) -> str:
    """The keys of one shape as a table."""
    rows = [
        f"| `{field.key}`{' (optional)' if field.optional else ''} | {field.type} | {field.text} |"
        for field in shapes()[name]
    ]
    return "\n".join([f"### `{name}`", "", "| key | type | meaning |", "|---|---|---|", *rows])


_TYPE_NAMES: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    decimal.Decimal: "decimal",
}


def type_name(annotation: object) -> str:
    """The JSON type of a field, in words."""
    if annotation in _TYPE_NAMES:
        return _TYPE_NAMES[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (types.UnionType, typing.Union):
        if all(inspect.isclass(one) and issubclass(one, msgspec.Struct) for one in arguments):
            return "object"
        return " or ".join(dict.fromkeys(type_name(one) for one in arguments))
    if origin is tuple:
        return f"list of {_element_name(arguments[0])}"
    if origin is dict:
        return f"map of {_element_name(arguments[1])}"
    if inspect.isclass(annotation):
        return snake(annotation.__name__) if issubclass(annotation, msgspec.Struct) else "string"
    raise SystemExit(f"docs/generate.py has no word for the type {annotation}")


def _element_name(annotation: object) -> str:
    name = type_name(annotation)
    return f"({name})" if " or " in name else name


def snake(name: str) -> str:
    """`ToolCall` as `tool_call`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def struct_row(label: str, struct: type[msgspec.Struct]) -> str:
    """One struct as a table row: label, meaning, keys."""
    hints = typing.get_type_hints(struct)
    keys = [f"`{field.encode_name}` {type_name(hints[field.name])}" for field in msgspec.structs.fields(struct)]
    meaning = inspect.cleandoc(struct.__doc__ or "").replace("\n\n", " ").replace("\n", " ").replace("|", "\\|")
    return f"| {label} | {meaning} | {' · '.join(keys)} |"


_EVENTS: dict[type[msgspec.Struct], tuple[Kind, ...]] = {
    messages.Message: (Kind.USER, Kind.AGENT),
    messages.Thinking: (Kind.THINKING,),
    messages.Todos: (Kind.TODOS,),
    calls.ToolCall: (Kind.TOOL, Kind.TOOL_START, Kind.TOOL_PROGRESS),
    calls.McpCall: (Kind.MCP,),
    calls.Observation: (Kind.OBSERVATION,),
    calls.Skill: (Kind.SKILL,),
    calls.Plan: (Kind.PLAN,),
    calls.Recall: (Kind.RECALL,),
    calls.Subagent: (Kind.SUBAGENT,),
    calls.Mode: (Kind.MODE,),
    calls.Question: (Kind.QUESTION,),
    lifecycle.Lifecycle: (Kind.LIFECYCLE, Kind.PHASE),
}


def event_tables() -> str:
    """What `event` holds, by the type of the line."""
    lines = [struct_row(", ".join(f"`{kind}`" for kind in kinds), struct) for struct, kinds in _EVENTS.items()]
    remarks = [struct_row(f"`{snake(struct.__name__)}`", struct) for struct in typing.get_args(comments.Comment)]
    primitives = [struct_row(f"`{snake(one.__name__)}`", one) for one in typing.get_args(lifecycle.Primitive)]
    shared = (calls.Arguments, Result, Blob, calls.Answer, messages.Todo)
    parts = [struct_row(f"`{snake(struct.__name__)}`", struct) for struct in shared]
    tables = [
        ("### `event` of a line, by `type`", "type", lines),
        ("### `event` of a comment, by `name`", "name", remarks),
        ("### `primitive` of a lifecycle line", "primitive", primitives),
        ("### Objects inside events", "object", parts),
    ]
    return "\n\n".join("\n".join([h, "", f"| {c} | what it is | keys |", "|---|---|---|", *r]) for h, c, r in tables)


def kind_table() -> str:
    """The values of `type` in a row, with the prefix each stands for."""
    others = {Kind.CONTINUATION: "two spaces or a tab", Kind.UNKNOWN: "anything else"}
    rows = [
        f"| `{kind}` | {f'`{PREFIXES[kind]}`' if kind in PREFIXES else others[kind]} |"
        for kind in Kind
        if kind is not Kind.BLANK
    ]
    return "\n".join(["| type | line begins with |", "|---|---|", *rows])
