"""The JSON lines form: one object an event under short keys, which reads back as the very event."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from blackbox.document.line import Line
from blackbox.errors import UsageError
from blackbox.events import calls, comments, lifecycle
from blackbox.events.build import Event, Unparsed
from blackbox.events.messages import Message, Thinking, Todo, Todos, parse_todos
from blackbox.formats import outcomes
from blackbox.formats.flight import Entry, Flight, Losses, Reading, is_same, ordered
from blackbox.formats.jsonlines import can_carry, dump_all, load_all
from blackbox.syntax.escape import escape_controls, unescape
from blackbox.syntax.header import Header, HeaderValue
from blackbox.syntax.kinds import classify
from blackbox.syntax.metadata import is_known
from blackbox.syntax.tokens import Value
from blackbox.write import scalars, spelling
from blackbox.write.header import spell_fields
from blackbox.write.render import render_event

#: The type of the first line, whose `v` holds the header.
HEADER = "---"
#: Where an entry stands in its log spelling, for what the short keys cannot say.
SPELLED = "bbox"
#: Says that the texts of an object are under the escape rule, as a log's are whose header says so.
ESCAPED = "escape"
_FLAG = "interrupted"
_NUMBERS = ("step", "latency_ms")
_STAGES = {"call": "t", "start": "t!", "progress": "t~"}
_OF_STAGES = {prefix: stage for stage, prefix in _STAGES.items()}
_ROLES = {"user": "u", "agent": "a"}
#: Headers nest no deeper in a log; what does is kept as JSON text.
_DEEPEST = 40
#: Beyond this, programs that keep numbers as doubles would change them.
_EXACT = 1 << 53


def to_jsonl(flight: Flight) -> str:
    """The JSON lines of a session."""
    return dump_all([encode_header(flight.header), *map(encode, flight.entries)])


def from_jsonl(data: bytes) -> Reading:
    """The session of a JSON lines file. An object of an unknown type is kept as its JSON text."""
    losses = Losses()
    header: dict[str, HeaderValue] = {}
    entries: list[Entry] = []
    for number, source, value in load_all(data):
        if value is None:
            losses.add("bad-lines", number)
        elif value.get("t") == HEADER:
            header = read_header(value if SPELLED in value else value.get("v"))
        else:
            entry = decode(value)
            losses.add("unknown-lines", number, count=entry is None)
            entries.append(Entry(comments.RawEvent("codex", source), {}) if entry is None else entry)
    return Reading(Flight(header, entries), losses.found)


def encode_header(fields: Mapping[str, HeaderValue]) -> dict[str, Any]:
    """The first line."""
    value = {"t": HEADER, "v": dict(fields)}
    return value if can_carry(value) else {"t": HEADER, SPELLED: spell_fields(fields)}


def read_header(fields: Any) -> dict[str, HeaderValue]:
    """Header fields from JSON: every scalar is text."""
    if not isinstance(fields, dict):
        return {}
    spelled = fields.get(SPELLED)
    if isinstance(spelled, str):
        header = Header(spelled.rstrip("\n").split("\n")).fields
        return {key: value for key, value in header.items() if key != "escape"}
    return {key: _header_value(value) for key, value in fields.items()}


def _header_value(value: Any, depth: int = 0) -> HeaderValue:
    if depth < _DEEPEST and isinstance(value, dict):
        return {key: _header_value(item, depth + 1) for key, item in value.items()}
    if depth < _DEEPEST and isinstance(value, list):
        return [_header_value(item, depth + 1) for item in value]
    return scalars.text_of(value)


def encode(entry: Entry) -> dict[str, Any]:
    """The object of an entry. What the keys cannot carry exactly stands in its log spelling under `bbox`.

    An event that has no log spelling either, such as a call without a name, is as near as the keys come.
    """
    value = _object(entry.event) | _encode_meta(ordered(entry.meta))
    if not can_carry(value):
        value = {"t": value["t"], ESCAPED: 1, **_map_texts(value, escape_controls)}
    read = decode(value)
    if read is not None and is_same(read, entry):
        return value
    try:
        return {"t": value["t"], SPELLED: render_event(entry.event, entry.meta)}
    except UsageError:
        return value


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The same value with each text in it changed, the names of arguments included; keys of ours are plain."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _map_texts(item, change) for key, item in value.items()}
    return [_map_texts(item, change) for item in value] if isinstance(value, list) else value


def decode(value: Mapping[str, Any]) -> Entry | None:
    """The entry of an object; None if it is of no type the log has."""
    spelled = value.get(SPELLED)
    if isinstance(spelled, str):
        return read_spelled(spelled)
    kind = value.get("t")
    if value.get(ESCAPED) == 1 and kind != "#":
        value = _map_texts(dict(value), unescape)
    builder = _BUILDERS.get(kind) if isinstance(kind, str) else None
    if builder is None:
        return None
    meta = _decode_meta(value)
    event = builder(value, meta)
    return None if event is None else Entry(event, {} if isinstance(event, comments.Comment) else meta)


def read_spelled(source: str) -> Entry | None:
    """An entry from the lines of a log with `escape: 1`."""
    first, *more = source.split("\n")
    line = Line(classify(first), 1, first, True, more or None)
    event = line.event
    if isinstance(event, comments.Comment):
        return Entry(_read_comment(line.text, escaped=True), {})
    return None if isinstance(event, Unparsed) else Entry(event, dict(line.parts.raw_meta))


def _encode_meta(meta: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, text in meta.items():
        if key == _FLAG:
            found[key] = True
        elif (key in _NUMBERS or key.startswith("tokens_")) and _is_number(text):
            found[key] = int(text)
        else:
            found[key] = text
    return found


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 16 and str(int(text)) == text and int(text) < _EXACT


def _decode_meta(value: Mapping[str, Any]) -> dict[str, str]:
    meta = {key: scalars.text_of(item) for key, item in value.items() if is_known(key) and item is not None}
    if value.get(_FLAG) is True:
        meta[_FLAG] = ""
    return meta


def _object(event: Event) -> dict[str, Any]:
    if isinstance(event, comments.Comment):
        return {"t": "#", **_remark(event)}
    match event:
        case Message(role, text, metrics):
            measured = {} if metrics is None else {"metrics": _measured(metrics)}
            return {"t": _ROLES.get(role, role), "c": text, **measured}
        case Thinking(text):
            return {"t": "th", "c": text}
        case Todos(items, text):
            listed = [{"status": item.status, "text": item.text} for item in items]
            return {"t": "td", "c": text if parse_todos(text) == event else listed}
        case calls.Mode(name, _, arguments, comment):
            return {"t": "m", "v": name, **_arguments(arguments), **_comment(comment)}
        case lifecycle.Lifecycle(name, _, arguments, result, comment):
            return {"t": "@", "n": name, **_arguments(arguments), **_result(result), **_comment(comment)}
        case Unparsed():
            raise UsageError("a line that says nothing is no event", "leave it out")
        case _:
            return _call(event) | _result(event.result)


def _call(event: Any) -> dict[str, Any]:
    match event:
        case calls.ToolCall(name, arguments, _, stage):
            return {"t": _STAGES.get(stage, stage), "n": name, **_arguments(arguments)}
        case calls.McpCall(server, method, arguments):
            return {"t": "c", "s": server, "m": method, **_arguments(arguments)}
        case calls.Observation(_, arguments):
            return {"t": "o", **_arguments(arguments)}
        case calls.Skill(name, action, arguments):
            is_action = action is not None and len(arguments.positional) == 1 and not arguments.keyword
            return {"t": "s", "n": name, **({"a": action} if is_action else _arguments(arguments))}
        case calls.Plan(action, _, _, arguments):
            return {"t": "p", "a": action, **_arguments(arguments, words="title", rest="args")}
        case calls.Recall(_, arguments):
            return {"t": "r", **_arguments(arguments, words="q")}
        case calls.Subagent(agent_type, _, arguments):
            return {"t": "x", "n": agent_type, **_arguments(arguments, words="q")}
        case _:
            return {"t": "q", **_arguments(event.arguments, words="q")}


def _arguments(arguments: calls.Arguments, *, words: str = "", rest: str = "a") -> dict[str, Any]:
    """The arguments under `rest`, positional ones as a list named `_`; with `words` those have their own key."""
    keyword = {key: _listed(value) for key, value in arguments.keyword.items()}
    positional = [_listed(value) for value in arguments.positional]
    if not positional:
        return {rest: keyword} if keyword else {}
    if not words:
        return {rest: {"_": positional, **keyword}}
    single = positional[0] if len(positional) == 1 and isinstance(positional[0], str) else positional
    return {words: single, **({rest: keyword} if keyword else {})}


def _listed(value: Value) -> str | list[str]:
    return value if isinstance(value, str) else list(value)


def _result(result: Any) -> dict[str, Any]:
    return {} if result is None else {"r": outcomes.encode(result)}


def _comment(comment: str | None) -> dict[str, Any]:
    return {} if comment is None else {"comment": comment}


def _measured(metrics: comments.Metrics) -> dict[str, Any]:
    given = msgspec.to_builtins(metrics)
    return {key: value for key, value in given.items() if value is not None and value != {}}


def _read_comment(source: str, *, escaped: bool) -> comments.Comment:
    """The comment, or its text where the typed one could not be written again, as with `# t=soon`."""
    comment = comments.parse_comment(source, escaped=escaped)
    try:
        render_event(comment)
    except UsageError:
        return comments.Remark(unescape(source) if escaped else source)
    return comment


def _remark(event: comments.Comment) -> dict[str, Any]:
    first, *rest = render_event(event).split("\n")
    source = "\n".join([first[1:].removeprefix(" "), *(line.removeprefix(spelling.CONTINUATION) for line in rest)])
    if comments.parse_comment(source) == event:
        return {"c": source}
    text = getattr(event, "text", None)
    if isinstance(text, str) and can_carry(text) and comments.parse_comment(text) == event:
        return {"c": text}
    return {"c": source, ESCAPED: 1}


_Object = Mapping[str, Any]
_Meta = dict[str, str]


def _text(value: _Object, key: str) -> str:
    return scalars.text_of(value[key]) if value.get(key) is not None else ""


def _given(value: _Object, *, words: str = "", rest: str = "a") -> calls.Arguments:
    keyword = value.get(rest)
    if isinstance(keyword, str | list):
        keyword = {"_": [keyword] if isinstance(keyword, str) else keyword}
    pairs = dict(keyword) if isinstance(keyword, dict) else {}
    positional = pairs.pop("_", ()) if isinstance(pairs.get("_"), list) else ()
    spoken = value.get(words) if words else None
    if spoken is not None:
        positional = [*(spoken if isinstance(spoken, list) else [spoken]), *positional]
    return scalars.arguments(positional, {}, pairs)


def _outcome(value: _Object) -> Any:
    return outcomes.decode(value["r"]) if value.get("r") is not None else None


def _said(value: _Object) -> str | None:
    return _text(value, "comment") if value.get("comment") is not None else None


def _agent(value: _Object, _: _Meta) -> Event:
    metrics = None
    if isinstance(value.get("metrics"), dict):
        try:
            metrics = msgspec.convert(value["metrics"], comments.Metrics)
        except msgspec.ValidationError:
            metrics = None
    return Message("agent", _text(value, "c"), metrics)


def _todos(value: _Object, _: _Meta) -> Event:
    content = value.get("c")
    if isinstance(content, list):
        items = [Todo(_text(item, "status"), _text(item, "text")) for item in content if isinstance(item, dict)]
        try:
            return spelling.todos_of(items)
        except UsageError:
            content = scalars.text_of(content)
    return parse_todos(_text({"c": content}, "c"))


def _tool(value: _Object, _: _Meta) -> Event:
    return calls.ToolCall(_text(value, "n"), _given(value), _outcome(value), _OF_STAGES[value["t"]])


def _lifecycle(value: _Object, meta: _Meta) -> Event:
    name, arguments, result = _text(value, "n"), _given(value), _outcome(value)
    primitive = lifecycle.build_primitive(name, arguments, meta, result)
    return lifecycle.Lifecycle(name, primitive, arguments, result, _said(value))


_BUILDERS: dict[str, Callable[[_Object, _Meta], Event | None]] = {
    "u": lambda v, _: Message("user", _text(v, "c")),
    "a": _agent,
    "th": lambda v, _: Thinking(_text(v, "c")),
    "td": _todos,
    "t": _tool,
    "t!": _tool,
    "t~": _tool,
    "o": lambda v, _: calls.build_observation(_given(v), _outcome(v)),
    "s": lambda v, _: calls.build_skill(_text(v, "n"), _given(v), _outcome(v)),
    "p": lambda v, _: calls.build_plan(_text(v, "a"), _given(v, words="title", rest="args"), _outcome(v)),
    "m": lambda v, _: calls.build_mode(_text(v, "v"), _given(v), _said(v)),
    "r": lambda v, _: calls.build_recall(_given(v, words="q"), _outcome(v)),
    "x": lambda v, _: calls.build_subagent(_text(v, "n"), _given(v, words="q"), _outcome(v)),
    "c": lambda v, _: calls.McpCall(_text(v, "s"), _text(v, "m"), _given(v), _outcome(v)),
    "q": lambda v, _: calls.build_question(_given(v, words="q"), _outcome(v)),
    "@": _lifecycle,
    "#": lambda v, _: _read_comment(_text(v, "c"), escaped=v.get(ESCAPED) == 1),
}
#: The types an object may have.
TYPES = frozenset(_BUILDERS)
