"""The companion form: the JSON lines that agents' own tools read, with what these would not give back in `bbox`."""

from collections.abc import Mapping
from typing import Any

from blackbox.events.comments import RawEvent
from blackbox.formats import native, outcomes, shortkeys
from blackbox.formats.flight import Entry, Flight, Losses, Reading
from blackbox.formats.jsonlines import can_carry, diff, dump_all, load_all, patched
from blackbox.syntax.header import HeaderValue
from blackbox.write.header import spell_fields

#: Keys of a line's `bbox` beside its patch: how its result is framed, and that the next line is its result.
_FRAME, _JOINED = "as", "joined"
#: Metadata that names the response a line came out of, and the request for it, as other tools know them.
_RESPONSE, _REQUEST = "extra.response", "extra.request"


class Companion:
    """Writes the lines of one session in order."""

    def __init__(self, header: Mapping[str, HeaderValue]) -> None:
        name, model = header.get("id"), header.get("model")
        self._header = dict(header)
        # Both stand on many lines; what JSON cannot carry stands in the header alone. A reader compares the model of
        # a line with that of the header, so it stands on lines only if the header can be read as it is.
        self._session = name if isinstance(name, str) and can_carry(name) else ""
        self._model = model if isinstance(model, str) and can_carry(self._header) else None
        self._state = native.State()
        self._state.model = self._model
        self._running: set[str] = set()
        self._made_up = 0

    def header_line(self, timestamp: str | None = None) -> dict[str, Any]:
        """The first line: the session and its header."""
        message: dict[str, Any] = {"subtype": "init", "session_id": self._session}
        for key in ("model", "cwd"):
            message |= {key: self._header[key]} if key in self._header else {}
        header: Any = self._header
        if not can_carry(header):
            header, message = {shortkeys.SPELLED: spell_fields(self._header)}, {"subtype": "init"}
        return self._line("system", {**message, "header": header}, {"ts": timestamp} if timestamp else {})

    def lines(self, entry: Entry) -> list[dict[str, Any]]:
        """The lines of one entry: one, or two where a call has its result at once."""
        value = shortkeys.encode(entry)
        if not {shortkeys.SPELLED, shortkeys.ESCAPED} & value.keys():
            shaped = self._shape(value, entry)
            if shaped is not None and all(can_carry(line) for line in shaped):
                return shaped
        spoken = {key: item for key, item in value.items() if key != "ts" or not item}
        return [self._line("system", {"subtype": "event", **spoken}, value)]

    def _shape(self, value: dict[str, Any], entry: Entry) -> list[dict[str, Any]] | None:
        kind, name = value["t"], value.get("id")
        if kind in ("u", "a", "th"):
            return [self._patch(self._said(kind, value), value)]
        if kind == "o":
            if not name or "r" not in value:
                return None
            self._settle(name, entry)
            return [self._answer(value)]
        if kind not in ("t", "t!", "c", "x"):
            return None
        if name in self._running:
            # Its next attempt is no new call, and its end is the answer to it.
            if kind == "t!" or "r" not in value:
                return None
            self._settle(name, entry)
            return [self._answer(value)]
        return self._called(value, entry)

    def _called(self, value: dict[str, Any], entry: Entry) -> list[dict[str, Any]] | None:
        block = _tool_use(value)
        if block is None:
            return None
        name = value.get("id")
        if not name:
            self._made_up += 1
            name = f"bbox_{self._made_up}"
        block = {"type": "tool_use", "id": name, **block}
        call = self._line("assistant", self._message([block], value), value)
        result = getattr(entry.event, "result", None)
        if result is None or result.is_open:
            if value["t"] == "t!" or result is not None:
                self._running.add(name)
            return [self._patch(call, value)]
        call = self._patch(call, value | {"r": "running"}, {_JOINED: True})
        frame, content = outcomes.split(value["r"])
        answer = self._line("user", _result_message(name, frame, content), value)
        return [call, _framed(answer, frame)]

    def _answer(self, value: dict[str, Any]) -> dict[str, Any]:
        frame, content = outcomes.split(value["r"])
        line = _framed(self._line("user", _result_message(value["id"], frame, content), value), frame)
        return self._patch(line, value, line.get("bbox", {}))

    def _settle(self, name: str, entry: Entry) -> None:
        result = getattr(entry.event, "result", None)
        if result is not None and not result.is_open:
            self._running.discard(name)

    def _said(self, kind: str, value: dict[str, Any]) -> dict[str, Any]:
        if kind == "u":
            return self._line("user", {"role": "user", "content": value["c"]}, value)
        block = {"type": "text", "text": value["c"]}
        if kind == "th":
            block = {"type": "thinking", "thinking": value["c"]}
            block |= {"signature": value["sig"]} if "sig" in value else {}
        message = self._message([block], value)
        if value.get("id"):
            message.setdefault("id", value["id"])
        return self._line("assistant", message, value)

    def _message(self, content: list[dict[str, Any]], value: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"type": "message", "role": "assistant", "content": content}
        if value.get(_RESPONSE):
            message["id"] = value[_RESPONSE]
        model = value.get("model", self._model)
        message |= {"model": model} if isinstance(model, str) and model else {}
        usage = {given: value[key] for given, key in native.USAGE.items() if isinstance(value.get(key), int)}
        usage = usage or _measured(value.get("metrics"))
        return message | ({"usage": usage} if usage else {})

    def _line(self, kind: str, message: dict[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
        line = {"type": kind, "message": message}
        line |= {"timestamp": value["ts"]} if value.get("ts") else {}
        line |= {"sessionId": self._session} if self._session else {}
        if kind != "system" and value["t"] in ("u", "a", "th"):
            line |= {"uuid": value["id"]} if value.get("id") else {}
        if kind != "system" and value.get("parent"):
            line["parentUuid"] = value["parent"]
        if kind == "assistant" and value.get(_REQUEST):
            line["requestId"] = value[_REQUEST]
        return line

    def _patch(
        self, line: dict[str, Any], value: dict[str, Any], more: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The line with what a plain reading of it would not say."""
        hint = {"t": value["t"]} if value["t"] == "x" else {}
        base = native.objects({**line, "bbox": {**hint, **(more or {})}}, self._state)[0]
        patch = {**(more or {}), **diff(base, value), **hint}
        return {**line, "bbox": patch} if patch else {key: item for key, item in line.items() if key != "bbox"}


def _tool_use(value: dict[str, Any]) -> dict[str, Any] | None:
    """The name and the input of a call; None if these could not tell its arguments apart."""
    given = value.get("a", {})
    if not isinstance(given, dict):
        return None
    if value["t"] == "x":
        task = value.get("q")
        if {"subagent_type", "prompt"} & given.keys() or not (task is None or isinstance(task, str)):
            return None
        task = {} if task is None else {"prompt": task}
        return {"name": native.TASK, "input": {"subagent_type": value["n"], **task, **given}}
    name = f"mcp__{value['s']}__{value['m']}" if value["t"] == "c" else value["n"]
    return {"name": name, "input": given}


def _result_message(name: str, frame: Any, content: str) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": name, "content": content}
    block |= {"is_error": True} if frame in ("err", "error") else {}
    return {"role": "user", "content": [block]}


def _framed(line: dict[str, Any], frame: Any) -> dict[str, Any]:
    return line if frame in ("ok", "error") else {**line, "bbox": {_FRAME: frame}}


def _measured(metrics: Any) -> dict[str, int]:
    """Usage of inline metrics, in which the prompt includes what was cached."""
    if not isinstance(metrics, dict):
        return {}
    prompt, cached = metrics.get("prompt_tokens"), metrics.get("cached_tokens")
    fresh = max(prompt - (cached or 0), 0) if isinstance(prompt, int) else None
    found = {
        "input_tokens": fresh,
        "output_tokens": metrics.get("completion_tokens"),
        "cache_read_input_tokens": cached,
    }
    return {key: count for key, count in found.items() if isinstance(count, int)}


def to_companion(flight: Flight) -> str:
    """All lines of a session."""
    writer = Companion(flight.header)
    times = (entry.meta["ts"] for entry in flight.entries if "ts" in entry.meta)
    first = next((time for time in times if can_carry(time)), None)
    lines = [writer.header_line(first)]
    for entry in flight.entries:
        lines += writer.lines(entry)
    return dump_all(lines)


class _Reader:
    """The objects of the lines so far; calls wait in it for a result or an id that a later line has."""

    def __init__(self) -> None:
        self.state = native.State()
        self.found: list[dict[str, Any]] = []
        self.losses = Losses()
        self._joined: tuple[str, int] | None = None
        self._nameless: int | None = None

    def take(self, line: dict[str, Any], number: int) -> None:
        """Read one line."""
        patch = line.get("bbox") if isinstance(line.get("bbox"), dict) else None
        values = native.objects(line, self.state)
        if len(values) == 1 and values[0]["t"] == "#" and values[0] == native.raw(line):
            self.losses.add("unknown-lines", number)
        elif patch is None and native.unread(line, self.state):
            self.losses.add("native-fields", number)
        joined, self._joined = self._joined, None
        if joined is not None and len(values) == 1 and values[0]["t"] == "o" and values[0].get("id") == joined[0]:
            self.found[joined[1]]["r"] = values[0]["r"]
            return
        if patch is not None and len(values) == 1:
            values = [self._patched(values[0], patch)]
        is_flat = line.get("type") in ("tool_use", "tool_result")
        for value in values:
            if is_flat and patch is None:
                self._match_nameless(value)
            self.found.append(value)

    def _patched(self, value: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
        name = value.get("id")
        result = patched(value, {key: item for key, item in patch.items() if key not in (_FRAME, _JOINED)})
        if patch.get(_JOINED) is True:
            # Until its result comes, which a crash may have kept from being written.
            result.pop("r", None)
            self._joined = (str(name), len(self.found))
        return result

    def _match_nameless(self, value: dict[str, Any]) -> None:
        """The flat form calls without an id, and the answer behind it names one."""
        if value["t"] == "o" and self._nameless is not None and value.get("id"):
            self.found[self._nameless]["id"] = value["id"]
        if value["t"] in ("o", "t!"):
            self._nameless = len(self.found) if value["t"] == "t!" and "id" not in value else None


def from_companion(data: bytes) -> Reading:
    """The session of a companion file, ours or an agent's own."""
    reader = _Reader()
    for number, _, value in load_all(data):
        if value is None:
            reader.losses.add("bad-lines", number)
        else:
            reader.take(value, number)
    entries = [
        shortkeys.decode(value) or Entry(RawEvent("codex", dump_all([value])[:-1]), {}) for value in reader.found
    ]
    return Reading(Flight(shortkeys.read_header(reader.state.header), entries), reader.losses.found)
