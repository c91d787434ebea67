"""How large a session is in each form: bytes and tokens of bbox, compact and JSON lines, beside verbose JSON.

Bytes are counted, not sampled, and tokens by an exact counter (o200k, an OpenAI vocabulary): these figures have no
noise. What a form leaves out is told beside its figures: a file that is smaller because it lost something is not the
same session.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec
from rs_bpe import openai

from bench.corpus import synthetic_blocks
from blackbox.formats.convert import read, write
from blackbox.formats.flight import Flight
from blackbox.formats.recognise import Form

ROOT = Path(__file__).resolve().parents[1]
COUNTER = "o200k_base, counted by rs-bpe"
#: What bbox and compact are said to be, as a share of verbose JSON: half the size, a third of the tokens.
CLAIMED_BYTES, CLAIMED_TOKENS = 0.5, 1 / 3
#: The three spellings of one call that the claim was illustrated with, and the tokens it gives for each.
SPELLINGS = (
    ("full JSON", '{"type":"tool","name":"grep","args":{"pattern":"billing"},"result":{"files":4}}', 25),
    ("bbox", 't:grep "billing" → [4 files]', 8),
    ("compact", 't:grep "billing"→[4]', 6),
)
_LONG_NAMES = {
    "t": "type",
    "c": "content",
    "n": "name",
    "a": "args",
    "r": "result",
    "s": "server",
    "m": "method",
    "v": "value",
    "q": "query",
}
_TYPES = {
    "u": "user",
    "a": "agent",
    "t": "tool",
    "t!": "tool_start",
    "t~": "tool_progress",
    "o": "observation",
    "s": "skill",
    "p": "plan",
    "m": "mode",
    "r": "recall",
    "x": "subagent",
    "c": "mcp",
    "q": "question",
    "#": "comment",
    "@": "lifecycle",
    "th": "thinking",
    "td": "todos",
    "---": "header",
}


class Size(msgspec.Struct):
    """One form of one session: its bytes, its tokens, and what it could not carry."""

    form: str
    bytes: int
    tokens: int
    losses: list[str]


class SizeReport(msgspec.Struct):
    """Every session in every form, and the tokens of the three spellings of one call."""

    sessions: dict[str, list[Size]]
    spellings: list[tuple[str, int, int]]


def measure(folders: list[Path]) -> SizeReport:
    """Measure the examples, a made-up session and, where folders are given, the sessions in them put together."""
    count = openai.o200k_base().count
    sessions = {
        f"examples/{name}": _flight((ROOT / "examples" / name).read_bytes(), name)
        for name in ("12h-autopilot-session.bbox", "feature-session.bbox")
    }
    sessions["synthetic session, 1 MB"] = _flight(b"".join(synthetic_blocks(1_000_000)), "the synthetic session")
    real = [path for folder in folders for path in sorted(folder.rglob("*.jsonl"))]
    if real:
        flights = [_flight(path.read_bytes(), path.name) for path in real]
        entries = [entry for flight in flights for entry in flight.entries]
        sessions[f"{len(real)} real sessions put together"] = Flight(flights[0].header, entries)
    return SizeReport(
        {name: _sizes(flight, count) for name, flight in sessions.items()},
        [(name, claimed, count(text)) for name, text, claimed in SPELLINGS],
    )


def _flight(data: bytes, name: str) -> Flight:
    return read(data, name)[1].flight


def _sizes(flight: Flight, count: Callable[[str], int]) -> list[Size]:
    forms = {"bbox": Form.BBOX, "compact": Form.COMPACT, "JSON lines, short keys": Form.JSONL}
    sizes = [_size("verbose JSON lines", verbose(flight), [], count)]
    for name, form in forms.items():
        written = write(flight, form)
        (text,) = written.texts.values()
        sizes.append(_size(name, text, [loss.told for loss in written.losses], count))
    return sizes


def _size(form: str, text: str, losses: list[str], count: Callable[[str], int]) -> Size:
    return Size(form, len(text.encode(errors="surrogateescape")), count(text), losses)


def verbose(flight: Flight) -> str:
    """The session as JSON lines with names spelled out, as the format's claims compare it with."""
    (short,) = write(flight, Form.JSONL).texts.values()
    spelled = []
    for line in short.splitlines():
        value = msgspec.json.decode(line)
        value["t"] = _TYPES.get(value["t"], value["t"])
        spelled.append(msgspec.json.encode({_LONG_NAMES.get(key, key): item for key, item in value.items()}).decode())
    return "\n".join([*spelled, ""])


def as_markdown(report: SizeReport) -> str:
    """The tables."""
    lines = [f"Tokens are those of {COUNTER}. Shares are of verbose JSON lines of the same session.", ""]
    lines += ["| session | form | bytes | share | tokens | share | left out |", "|---|---|---|---|---|---|---|"]
    for name, sizes in report.sessions.items():
        base = sizes[0]
        for size in sizes:
            share = f"{size.bytes / base.bytes:.0%}", f"{size.tokens / base.tokens:.0%}"
            lost = "; ".join(size.losses) or "-"
            lines.append(
                f"| {name} | {size.form} | {size.bytes:,} | {share[0]} | {size.tokens:,} | {share[1]} | {lost} |"
            )
    lines += ["", *_verdict(report), "", "One call in three spellings, as the claim illustrates it:", ""]
    lines += ["| spelling | tokens claimed | tokens counted |", "|---|---|---|"]
    lines += [f"| {name} | ~{claimed} | {counted} |" for name, claimed, counted in report.spellings]
    return "\n".join(lines)


def _verdict(report: SizeReport) -> list[str]:
    """What is true of the claims, in one sentence made from the figures."""
    told = []
    for form in ("bbox", "compact"):
        shares = [
            (size.bytes / sizes[0].bytes, size.tokens / sizes[0].tokens)
            for sizes in report.sessions.values()
            for size in sizes
            if size.form == form
        ]
        least, most = min(share[0] for share in shares), max(share[0] for share in shares)
        fewest, largest = min(share[1] for share in shares), max(share[1] for share in shares)
        told.append(f"{form} takes {least:.0%}–{most:.0%} of the bytes and {fewest:.0%}–{largest:.0%} of the tokens")
    claims = f"claimed were about {CLAIMED_BYTES:.0%} of the bytes and {CLAIMED_TOKENS:.0%} of the tokens"
    return [f"Found: {'; '.join(told)}. For comparison, {claims}."]
