"""Lines of the companion form as short-key objects: the nested ones of real files, and the flat form."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from blackbox.formats import outcomes
from blackbox.formats.jsonlines import dump
from blackbox.write import scalars

Line = Mapping[str, Any]
#: The tool that starts a sub-agent.
TASK = "Task"
#: Token counts of a message, and the metadata they are.
USAGE = {
    "input_tokens": "tokens_in",
    "output_tokens": "tokens_out",
    "cache_read_input_tokens": "tokens_cached",
    "cache_creation_input_tokens": "tokens_cache_create",
}
_KNOWN_LINE = frozenset({"type", "message", "timestamp", "sessionId", "session_id", "uuid", "parentUuid", "bbox"})
_KNOWN_MESSAGE = frozenset({"id", "type", "role", "model", "content", "usage"})
#: What some clients say on every line, and the header field it is.
_LINE_HEADER = {"sessionId": "id", "version": "client_version", "gitBranch": "branch", "cwd": "cwd", "slug": "slug"}
_KNOWN_INIT = frozenset({"subtype", "session_id", "model", "cwd", "claude_code_version", "skills", "mcp_servers"})
#: Beyond this a cost or a duration in milliseconds is none.
_MAX_AMOUNT = 10**15


class State:
    """What earlier lines say about later ones."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = {}
        self.model: str | None = None
        self.last_text = ""
        #: Messages whose tokens have been counted: a message of several blocks repeats them on each of its lines.
        self.counted: set[str] = set()


def objects(line: Line, state: State) -> list[dict[str, Any]]:
    """What a line says, as short-key objects; what has no meaning of its own is kept as its JSON text."""
    kind, message = line.get("type"), line.get("message")
    if isinstance(message, str):
        message = {"content": message}
    found: list[dict[str, Any]] | None = None
    if kind in ("user", "assistant") and isinstance(message, dict):
        found = _message(kind, message, line, state)
    elif kind == "system" and isinstance(message, dict):
        found = _system(message, line, state)
    elif kind == "system" and isinstance(line.get("subtype"), str):
        found = _system(line, line, state)
    elif kind == "result":
        found = [_end(message if isinstance(message, dict) else line, line, state)]
    elif kind in ("tool_use", "tool_result"):
        found = [_block(line, line, {})]
    elif kind == "header":
        found = _subagent_header(line, state)
    return [raw(line)] if found is None else found


def unread(line: Line, state: State) -> bool:
    """Whether a line holds something that neither its objects nor the header have."""
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return False
    said = {key for key, field in _LINE_HEADER.items() if line.get(key) == state.header.get(field)}
    return any(value is not None for key, value in line.items() if key not in _KNOWN_LINE | said) or any(
        value is not None for key, value in message.items() if key not in _KNOWN_MESSAGE
    )


def arguments_of(given: Any) -> dict[str, Any]:
    """The input of a tool as arguments: texts and lists of texts stay, the rest becomes JSON text."""
    if not isinstance(given, dict):
        return {} if given is None else {"_": [scalars.text_of(given)]}
    return {
        key: value if key == "_" and isinstance(value, list) else _argument(value) for key, value in given.items()
    }


def _argument(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return scalars.text_of(value)


def raw(value: Line) -> dict[str, Any]:
    """A line or a block that has no meaning of its own, as its JSON text."""
    return {"t": "#", "c": f"codex: {dump(value)}"}


def _stamp(line: Line) -> dict[str, Any]:
    time = line.get("timestamp")
    return {"ts": time} if isinstance(time, str) and time else {}


def _message(kind: str, message: dict[str, Any], line: Line, state: State) -> list[dict[str, Any]]:
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        return [raw(line)]
    if not state.header:
        state.header = _line_header(line)
    about = _about(message, line)
    usage = _usage(message, state) if kind == "assistant" else {}
    model = message.get("model")
    if kind == "assistant" and isinstance(model, str) and model != state.model:
        usage["model"] = model
    found = []
    for block in blocks:
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            value = {"t": "u" if kind == "user" else "a", "c": block["text"], **about}
            state.last_text = block["text"]
        elif block.get("type") == "thinking":
            sig = block.get("signature")
            value = {"t": "th", "c": scalars.text_of(block.get("thinking") or ""), **about}
            value |= {"sig": sig} if isinstance(sig, str) and sig else {}
        else:
            value = _block(block, line, about)
        found.append(value | (usage if value["t"] != "#" else {}))
        usage = usage if value["t"] == "#" else {}
    return found


def _about(message: Line, line: Line) -> dict[str, Any]:
    """Time, id and parent of a message."""
    found = _stamp(line)
    name = line.get("uuid") or message.get("id")
    parent = line.get("parentUuid")
    found |= {"id": name} if isinstance(name, str) and name else {}
    return found | ({"parent": parent} if isinstance(parent, str) and parent else {})


def _usage(message: Line, state: State) -> dict[str, Any]:
    name, usage = message.get("id"), message.get("usage")
    if not isinstance(usage, dict) or (isinstance(name, str) and name in state.counted):
        return {}
    if isinstance(name, str):
        state.counted.add(name)
    return {key: usage[given] for given, key in USAGE.items() if isinstance(usage.get(given), int)}


def _block(block: Line, line: Line, about: Line) -> dict[str, Any]:
    """A tool call or its result; `about` is what the message says of itself."""
    about = {key: value for key, value in about.items() if key != "id"} or _stamp(line)
    if block.get("type") == "tool_use":
        name = block.get("name") or block.get("tool")
        call = block.get("id") or block.get("tool_use_id")
        identity = {"id": call} if isinstance(call, str) and call else {}
        patch = line.get("bbox")
        given = arguments_of(block.get("input"))
        if isinstance(patch, dict) and patch.get("t") == "x" and name == TASK:
            return _task(given) | {"r": "running"} | identity | about
        filled = {"a": given} if given else {}
        return {"t": "t!", "n": scalars.text_of(name or ""), **filled, "r": "running"} | identity | about
    if block.get("type") == "tool_result":
        call = block.get("tool_use_id")
        identity = {"id": call} if isinstance(call, str) and call else {}
        return {"t": "o", "r": outcome(block, line)} | identity | about
    return raw(block)


def _task(given: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in given.items() if key not in ("subagent_type", "prompt")}
    value: dict[str, Any] = {"t": "x", "n": given.get("subagent_type", "")}
    value |= {"q": given["prompt"]} if "prompt" in given else {}
    return value | ({"a": rest} if rest else {})


def outcome(block: Line, line: Line) -> Any:
    """The result in a tool_result block; `as` in the line's own patch says what kind it is of."""
    patch = line.get("bbox")
    frame = patch.get("as") if isinstance(patch, dict) else None
    if frame is None:
        frame = "error" if block.get("is_error") is True else "ok"
    return outcomes.join(frame, _content(block.get("content")))


def _content(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return scalars.text_of(content)
    return "\n".join(
        item["text"] if isinstance(item, dict) and isinstance(item.get("text"), str) else scalars.text_of(item)
        for item in content
    )


def _system(message: Line, line: Line, state: State) -> list[dict[str, Any]] | None:
    subtype = message.get("subtype")
    if subtype == "event" and isinstance(message.get("t"), str):
        return [{key: value for key, value in message.items() if key != "subtype"} | _stamp(line)]
    if subtype != "init":
        return None
    given = message.get("header")
    if isinstance(given, dict):
        state.header = dict(given)
        state.model = given.get("model") if isinstance(given.get("model"), str) else None
        return []
    began = [] if state.header else [_start(message, line)]
    state.header = state.header or _init_header(message)
    model = message.get("model")
    state.model = model if isinstance(model, str) else state.model
    known = {"model": state.model} if state.model else {}
    return [*began, {"t": "@", "n": "init", **known, **_stamp(line)}]


def _start(message: Line, line: Line) -> dict[str, Any]:
    name = message.get("session_id") or line.get("sessionId")
    return {"t": "@", "n": "start", **({"id": name} if isinstance(name, str) and name else {}), **_stamp(line)}


def _init_header(message: Line) -> dict[str, Any]:
    """The header of a session whose client began its log with an init line. What is not ours goes to `extra`."""
    header: dict[str, Any] = {"format": "rlog/1"}
    for key, field in (
        ("session_id", "id"),
        ("model", "model"),
        ("cwd", "cwd"),
        ("claude_code_version", "client_version"),
    ):
        if isinstance(message.get(key), str):
            header[field] = message[key]
    servers = message.get("mcp_servers")
    if isinstance(servers, list) and all(isinstance(item, dict) and "name" in item for item in servers):
        header["mcp"] = [scalars.text_of(item["name"]) for item in servers]
    if isinstance(message.get("skills"), list):
        header["skills"] = [scalars.text_of(item) for item in message["skills"]]
    rest = {key: value for key, value in message.items() if key not in _KNOWN_INIT and value is not None}
    return header | {f"extra.{key}": _argument(value) for key, value in rest.items()}


def _line_header(line: Line) -> dict[str, Any]:
    """The header of a session whose client says on each line what others say once."""
    found = {field: line[key] for key, field in _LINE_HEADER.items() if isinstance(line.get(key), str) and line[key]}
    return {"format": "rlog/1", **found} if found else {}


def _subagent_header(line: Line, state: State) -> list[dict[str, Any]]:
    """`{"type":"header","session_id":…}`: a sub-agent's own log begins."""
    name, began = line.get("session_id"), line.get("started_at")
    given = line.get("header")
    state.header = {"format": "rlog/1", **({"id": name} if isinstance(name, str) else {})}
    state.header |= given if isinstance(given, dict) else {}
    state.model = state.header.get("model")
    for key in ("parent_session", "agent_type", "started_at"):
        if isinstance(line.get(key), str):
            state.header[f"extra.{key}"] = line[key]
    return [_start(line, {"timestamp": began})]


def _end(message: Line, line: Line, state: State) -> dict[str, Any]:
    """The client's last line, with the totals of the session."""
    summary = message.get("result")
    cost, spent = message.get("total_cost_usd"), message.get("duration_ms")
    given: dict[str, Any] = {}
    if isinstance(summary, str) and summary and summary != state.last_text:
        given["summary"] = summary
    if _is_amount(cost):
        given["cost"] = f"${cost:.6f}".rstrip("0").rstrip(".")
    if _is_amount(spent):
        given["duration"] = scalars.duration("duration", spent / 1000)
    if isinstance(message.get("num_turns"), int):
        given["turns"] = str(message["num_turns"])
    return {"t": "@", "n": "end", "a": given, **_usage({"usage": message.get("usage")}, state), **_stamp(line)}


def _is_amount(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and 0 <= value < _MAX_AMOUNT
