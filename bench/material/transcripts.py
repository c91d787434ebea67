"""Transcripts in Markdown, written back as the logs that Claude Code keeps, so that the whole product works on them.

The documents are taken apart by the product's own reader. What they leave out is put back where it can be known: the
folder of the work (from files that are named both ways), what a question, a list of todos and a written file were
given as arguments. A failed call says so in its own words. An update of a task has lost its state: the first one
starts a task, the next ends it.
"""

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from blackbird.canon import wrappers
from blackbird.canon.model import Evidence, Origin, Part, Role, Side, Text, Thinking, ToolCall, ToolResult
from blackbird.canon.natives import specstory
from blackbird.canon.seen import Entry

_HEAD = re.compile(r"<!-- Claude Code Session (\S+) \((\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ)\) -->")
_ABSOLUTE = re.compile(r"(?<![\w.])/(?:[\w.@+-]+/)+[\w.@+-]+")
_QUESTION = re.compile(r"^\*\*(?P<text>.+)\*\*$\n\nOptions:\n(?P<options>(?:- .*\n?)*)", re.MULTILINE)
_OPTION = re.compile(r"^- \*\*(.+?)\*\*(?: - (.*))?$", re.MULTILINE)
_TODO = re.compile(r"^- \[(.)\] (?:\W+ )?(.+)$", re.MULTILINE)
_CREATED = re.compile(r"Task #(\d+) created successfully: (.+)")
_NUMBER = re.compile(r"task #(\d+)")
_TODO_STATES = {" ": "pending", "⚡": "in_progress", "X": "completed", "x": "completed"}
_FAILED = ("Exit code ", "<tool_use_error>", "The user doesn't want to")
_REJECTED = "The user doesn't want to"
_VERSION = "2.1.20"
#: A command of the client may stand for a whole diff.
_FIRST_WORDS = 4000


class Transcript(NamedTuple):
    """One session: what its document says, each piece with its time in nanoseconds since 1970."""

    session: str
    path: Path
    began: int
    entries: tuple[tuple[int, Entry], ...]
    folder: str

    @property
    def began_text(self) -> str:
        """When it began, as the documents spell times."""
        return dt.datetime.fromtimestamp(self.began / 1e9, dt.UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def read(folders: Iterable[Path]) -> list[Transcript]:
    """All sessions below the folders, by their beginning; of several documents of one the longest."""
    longest: dict[str, tuple[int, Path, str]] = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*.md")):
        text = path.read_text("utf-8", "replace")
        head = _HEAD.search(text[:4000])
        if head and (len(text), path) > longest.get(head[1], (0, path, ""))[:2]:
            longest[head[1]] = (len(text), path, text)
    texts = {session: text for session, (_, _, text) in longest.items()}
    folders_of = _work_folders(texts)
    found = []
    for session, (_, path, text) in longest.items():
        head = _HEAD.search(text)
        assert head is not None
        began = _nanoseconds(head[2])
        found.append(Transcript(session, path, began, tuple(_timed(text, began)), folders_of[session]))
    return sorted(found, key=lambda each: (each.began, each.session))


def _nanoseconds(text: str) -> int:
    return int(dt.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()) * 10**9


def _timed(text: str, began: int) -> Iterator[tuple[int, Entry]]:
    """The entries with their times: a result has that of its call."""
    evidence = Evidence(source="document", side=Side.LINE, start=0, end=len(text.encode()))
    at = began
    for entry in specstory.Reader("document", "document.md").line(text, evidence):
        at = entry.at if entry.at is not None else at
        if entry.turn is not None:
            yield at, entry


def _work_folders(texts: dict[str, str]) -> dict[str, str]:
    """Where each session took place: where a file that it names from there stands in whole."""
    counted: dict[str, Counter[str]] = {}
    for session, text in texts.items():
        named = {name[2:] for name in re.findall(r"`(\./[\w./-]+\.\w+)`", text)}
        whole = Counter(_ABSOLUTE.findall(text))
        counted[session] = Counter(
            {
                path[: -len(name) - 1]: count
                for path, count in whole.items()
                for name in named
                if path.endswith("/" + name)
            }
        )
    everywhere = sum(counted.values(), Counter[str]())
    usual = max(everywhere, key=lambda folder: (everywhere[folder], folder), default="/project")
    found = {}
    for session, text in texts.items():
        # Only there, or in a folder above: a copy of a file elsewhere is no folder of work.
        likely = [folder for folder, _ in counted[session].most_common() if _is_above(folder, usual)]
        spelled = usual if usual in text else next((one for one in everywhere if one in text), usual)
        found[session] = likely[0] if likely else spelled
    return found


def _is_above(folder: str, inner: str) -> bool:
    """Whether a folder is another or one that holds it, on a disk that does not tell capitals apart."""
    return (inner.lower() + "/").startswith(folder.lower() + "/")


def first_words(transcript: Transcript) -> str:
    """What the human said before the agent said anything: typed, or what a command of the client stands for."""
    said: list[str] = []
    for _, entry in transcript.entries:
        turn = entry.turn
        if turn is None or entry.thread is not None:
            continue
        if turn.role is Role.ASSISTANT:
            break
        for text in (part.text for part in turn.parts if isinstance(part, Text)):
            command = wrappers.typed(text)
            own = [piece for piece in wrappers.split(text, Role.USER) if piece.origin is Origin.USER]
            said += [command.words] if command is not None else [text[piece.first : piece.last] for piece in own]
    return "\n".join(said)[:_FIRST_WORDS]


def write(transcript: Transcript, folder: Path, before: int | None = None) -> Path | None:
    """The session as a log of the client, as far as it went before a time; None if it had not begun."""
    lines = list(_Log(transcript).lines(before))
    if not lines:
        return None
    slug = re.sub(r"[^A-Za-z0-9]", "-", transcript.folder)
    path = folder / "projects" / slug / f"{transcript.session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


class _Log:
    """The lines of one session."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._last: dict[str, str | None] = {}
        self._calls: dict[str, ToolCall] = {}
        self._updated: Counter[str] = Counter()
        results = (part for _, entry in transcript.entries for part in _parts(entry) if isinstance(part, ToolResult))
        self._results = {part.call_id: part for part in results}

    def lines(self, before: int | None) -> Iterator[dict[str, Any]]:
        for number, (at, entry) in enumerate(self._transcript.entries):
            if before is not None and at >= before:
                continue
            blocks = [block for part in _parts(entry) for block in self._block(part)]
            if not blocks:
                continue
            is_said = entry.turn is not None and entry.turn.role is Role.ASSISTANT
            message: dict[str, Any] = {"role": "assistant" if is_said else "user", "content": blocks}
            if is_said:
                model = entry.reply.model if entry.reply is not None else None
                message |= {"id": f"msg_{number}", "type": "message", "model": model or "unknown"}
            line = self._line(number, at, entry, "assistant" if is_said else "user", message)
            yield line | self._kept(blocks)

    def _line(self, number: int, at: int, entry: Entry, kind: str, message: dict[str, Any]) -> dict[str, Any]:
        session, thread = self._transcript.session, entry.thread or ""
        uuid = f"{session[:24]}{number:012x}"
        parent, self._last[thread] = self._last.get(thread), uuid
        side = {"agentId": f"{session[:8]}-{thread.rpartition('-')[2]}"} if thread else {}
        return {
            "parentUuid": parent,
            "isSidechain": bool(thread),
            **side,
            "type": kind,
            "message": message,
            "uuid": uuid,
            "timestamp": dt.datetime.fromtimestamp(at / 1e9, dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "userType": "external",
            "cwd": self._transcript.folder,
            "sessionId": session,
            "version": _VERSION,
        }

    def _kept(self, blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """What the client keeps of a result for itself."""
        result = next((block for block in blocks if block["type"] == "tool_result"), None)
        if result is None:
            return {}
        if result["content"].startswith(_REJECTED):
            return {"toolUseResult": "User rejected tool use"}
        if self._calls[result["tool_use_id"]].name == "Bash" and not result["is_error"]:
            return {"toolUseResult": {"stdout": result["content"], "stderr": "", "interrupted": False}}
        return {}

    def _block(self, part: Part) -> Iterator[dict[str, Any]]:
        if isinstance(part, Text):
            yield {"type": "text", "text": part.text}
        elif isinstance(part, Thinking):
            yield {"type": "thinking", "thinking": part.text}
        elif isinstance(part, ToolCall) and part.call_id is not None:
            self._calls[part.call_id] = part
            yield {"type": "tool_use", "id": part.call_id, "name": part.name, "input": self._given(part)}
        elif isinstance(part, ToolResult) and part.call_id in self._calls:
            call, text = self._calls[part.call_id], part.text
            text = _told(call.raw, text) if call.name == "AskUserQuestion" else text
            yield {
                "type": "tool_result",
                "tool_use_id": part.call_id,
                "content": text,
                "is_error": part.error is True or text.startswith(_FAILED),
            }

    def _given(self, call: ToolCall) -> dict[str, Any]:
        result = self._results.get(call.call_id)
        answer = result.text if result is not None else ""
        if call.name == "AskUserQuestion":
            return {"questions": [_asked(found) for found in _QUESTION.finditer(call.raw + "\n")]}
        if call.name == "TodoWrite":
            entries = _TODO.findall(call.raw)
            return {
                "todos": [{"content": text, "status": _TODO_STATES.get(mark, "pending")} for mark, text in entries]
            }
        if call.name == "TaskCreate":
            created = _CREATED.search(answer)
            return {"subject": created[2] if created else call.raw, "description": call.raw}
        if call.name == "TaskUpdate":
            number = _NUMBER.search(answer)
            return self._update(number[1]) if number else {}
        given = dict(call.arguments or {"description": call.raw})
        if isinstance(path := given.get("file_path"), str) and path.startswith("./"):
            given["file_path"] = f"{self._transcript.folder}/{path[2:]}"
        return given

    def _update(self, number: str) -> dict[str, Any]:
        self._updated[number] += 1
        return {"taskId": number, "status": "in_progress" if self._updated[number] == 1 else "completed"}


def _parts(entry: Entry) -> Sequence[Part]:
    return entry.turn.parts if entry.turn is not None else ()


def _asked(found: "re.Match[str]") -> dict[str, Any]:
    options = [{"label": label, "description": more} for label, more in _OPTION.findall(found["options"])]
    return {"question": found["text"], "header": "", "options": options, "multiSelect": False}


def _told(raw: str, answer: str) -> str:
    """The answers in the words in which the client tells them to the agent."""
    questions = [_asked(found) for found in _QUESTION.finditer(raw + "\n")]
    if not questions or answer.startswith(_FAILED):
        return answer
    rest, pairs = answer.strip(), []
    for number, question in enumerate(questions):
        labels = [option["label"] for option in question["options"] if rest.startswith(option["label"])]
        is_last = number == len(questions) - 1
        chosen = max(labels, key=len) if labels and not is_last else rest if is_last else rest.partition(", ")[0]
        rest = rest[len(chosen) :].removeprefix(", ")
        pairs.append(f'"{question["question"]}"="{chosen}"')
    return (
        f"User has answered your questions: {', '.join(pairs)}. You can now continue with the user's answers in mind."
    )
