"""How small a sealed segment is after a hundred turns, how fast a request is read back, what sealing costs others.

A client that re-sends its history with every turn speaks through the real recorder to an upstream that streams its
answers event by event. The words come from the folders that are given (`--logs`), else from this repository's own
pages and sources.
"""

import json
import platform
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.peers import ROOT, free_port, recorder_config, recorder_home, running
from bench.recorder import LOADS, build_load
from blackbird.exchange.catalog import load, matching
from blackbird.recorder import control
from blackbird.recorder.program import find
from blackbird.trace.folder import Trace
from blackbird.trace.seal import index as seal_index

TURNS = 100
#: Events of one answer, and the pause between two: slow enough that each is read on its own.
EVENTS = 150
PAUSE = 0.001
_TEXT = (".md", ".py", ".rs", ".txt")
_SEAL = {"op": "seal"}
_PATIENCE = 60.0


class SealReport(msgspec.Struct):
    """Everything measured in one run."""

    turns: int
    material: str
    request_bytes: int
    request_sealed: int
    response_bytes: int
    #: All of the sealed file but for the requests' frames: streams, rows, heads and index.
    rest_sealed: int
    read_back_ms: list[float]
    seal_seconds: float
    latency_p99_ms: float
    latency_sealing_p99_ms: float
    machine: str


def material(folders: list[Path]) -> Iterator[str]:
    """Texts to talk about, again and again."""
    roots = folders or [ROOT / "docs", ROOT / "src", ROOT / "crates"]
    paths = sorted(path for root in roots for path in root.rglob("*") if path.suffix in _TEXT and path.is_file())
    while True:
        for path in paths:
            text = path.read_text(encoding="utf-8", errors="replace")
            for start in range(0, len(text), 4000):
                yield text[start : start + 4000]


def _head() -> dict[str, Any]:
    """What a coding agent sends before any message: some 80 KB of tools and instructions."""
    pages = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))
    tools = [
        {"name": f"tool_{number}", "description": pages[number * 3500 : (number + 1) * 3500], "input_schema": {}}
        for number in range(20)
    ]
    return {"model": "m", "stream": True, "max_tokens": 32000, "system": pages[:8000], "tools": tools}


def _events(text: str) -> Iterator[bytes]:
    words = text.split(" ")
    for number in range(EVENTS):
        delta = {"type": "text_delta", "text": " " + words[number % len(words)]}
        body = {"type": "content_block_delta", "index": 0, "delta": delta}
        yield f"event: content_block_delta\ndata: {json.dumps(body, separators=(',', ':'))}\n\n".encode()


def _serve(listener: socket.socket, texts: Iterator[str]) -> None:
    """Answer one request after the other on one connection."""
    stream, _ = listener.accept()
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with stream, stream.makefile("rb") as reader:
        while line := reader.readline():
            length = 0
            while (field := reader.readline()) not in (b"\r\n", b""):
                if field.lower().startswith(b"content-length:"):
                    length = int(field.split(b":")[1])
            assert line.startswith(b"POST ")
            reader.read(length)
            stream.sendall(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            for event in _events(next(texts)):
                stream.sendall(b"%x\r\n%s\r\n" % (len(event), event))
                time.sleep(PAUSE)
            stream.sendall(b"0\r\n\r\n")


def _talk(port: int, texts: Iterator[str]) -> tuple[int, int]:
    """A hundred turns; returns the bytes of bodies sent and received."""
    sent = received = 0
    body = _head()
    messages: list[dict[str, Any]] = []
    with socket.create_connection(("127.0.0.1", port)) as stream, stream.makefile("rb") as reader:
        for number in range(TURNS):
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number:020}", "content": next(texts)}
            # The mark of what to cache moves on with every turn: no history is quite a copy of the one before.
            last = {"role": "user", "content": [{**result, "cache_control": {"type": "ephemeral"}}]}
            data = json.dumps({**body, "messages": [*messages, last], "metadata": {"turn": number}}).encode()
            messages.append({"role": "user", "content": [result]})
            head = f"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: {len(data)}\r\n\r\n"
            stream.sendall(head.encode() + data)
            sent += len(data)
            while reader.readline() not in (b"\r\n", b""):
                pass
            answer = b""
            while size := int(reader.readline(), 16):
                answer += reader.read(size)
                reader.readline()
            reader.readline()
            received += len(answer)
            messages.append({"role": "assistant", "content": answer.decode()[:2000]})
    return sent, received


def measure(folders: list[Path]) -> SealReport:
    """Record a hundred turns, seal them, and read them back."""
    texts = material(folders)
    with tempfile.TemporaryDirectory(prefix="bench-") as name, socket.create_server(("127.0.0.1", 0)) as listener:
        folder, port = Path(name), free_port()
        threading.Thread(target=_serve, args=(listener, texts), daemon=True).start()
        config = recorder_config(folder, port, listener.getsockname()[1])
        with running([str(find()), "serve", "--config", str(config)], port, folder / "log", {}):
            sent, received = _talk(port, texts)
            began = time.monotonic()
            control.request(recorder_home(folder), _SEAL, timeout=_PATIENCE)
            seconds = time.monotonic() - began
        quiet, busy = _latency_while_sealing()
        trace = folder / "home" / "trace"
        first = min(trace.glob("*.seal"))
        requests = _request_frames(first)
        return SealReport(
            turns=TURNS,
            material="the folders given" if folders else "pages and sources of this repository",
            request_bytes=sent,
            request_sealed=requests,
            response_bytes=received,
            rest_sealed=first.stat().st_size - requests,
            read_back_ms=_read_back(trace),
            seal_seconds=seconds,
            latency_p99_ms=quiet,
            latency_sealing_p99_ms=busy,
            machine=platform.machine(),
        )


def _request_frames(seal: Path) -> int:
    """Compressed bytes of the frames that hold requests."""
    _, index = seal_index.read(memoryview(seal.read_bytes()), 0)
    return sum(frame.length for frame in index.frames if frame.stream == "request")


def _read_back(folder: Path) -> list[float]:
    """Milliseconds to read single requests with their bodies, each with nothing kept from the one before."""
    ids = matching(Trace(folder), "")
    spent = []
    for request in ids[:: max(1, len(ids) // 10)]:
        began = time.perf_counter()
        exchange = load(Trace(folder), request)
        assert exchange is not None
        assert exchange.request_body.chunks
        spent.append((time.perf_counter() - began) * 1000)
    return spent


def _latency_while_sealing() -> tuple[float, float]:
    """The p99 of event delay in milliseconds: with nothing to seal, and while a segment is being sealed."""
    program = build_load()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder, port, upstream = Path(name), free_port(), free_port()
        behind = [str(program), "upstream", "--listen", f"127.0.0.1:{upstream}"]
        config = recorder_config(folder, port, upstream)
        with (
            running(behind, upstream, folder / "upstream.log", {}),
            running([str(find()), "serve", "--config", str(config)], port, folder / "log", {}),
        ):
            paced = [str(program), "drive", "--target", f"127.0.0.1:{port}", *LOADS["paced"]]
            quiet = json.loads(subprocess.run(paced, capture_output=True, check=True).stdout)["p99_us"] / 1000
            filling = [*paced[:4], "--connections", "32", "--events", "10000"]
            subprocess.run(filling, capture_output=True, check=True)
            order = (recorder_home(folder), _SEAL, _PATIENCE)
            sealing = threading.Thread(target=control.request, args=order)
            sealing.start()
            busy = json.loads(subprocess.run(paced, capture_output=True, check=True).stdout)["p99_us"] / 1000
            sealing.join()
    return quiet, busy


def as_markdown(report: SealReport) -> str:
    """The table of the README."""
    rows = [
        ("requests", report.request_bytes, report.request_sealed),
        ("streams, with heads, times and index", report.response_bytes, report.rest_sealed),
    ]
    read = statistics.median(report.read_back_ms)
    fastest, slowest = min(report.read_back_ms), max(report.read_back_ms)
    quiet, busy = report.latency_p99_ms, report.latency_sealing_p99_ms
    return "\n".join(
        [
            f"{report.turns} turns of one session, each re-sending its history; words from {report.material}.",
            "",
            "| | on the wire | sealed | smaller |",
            "|---|---|---|---|",
            *(_row(*row) for row in rows),
            "",
            f"Sealing took {report.seal_seconds:.2f} s. Python reads one request with its bodies back from the seal",
            f"in {read:.0f} ms ({fastest:.0f}–{slowest:.0f}). Delay of events, p99 of 32 streams: {quiet:.1f} ms,",
            f"and {busy:.1f} ms while a segment is being sealed.",
        ]
    )


def _row(name: str, wire: int, sealed: int) -> str:
    return f"| {name} | {wire / 1e6:.2f} MB | {sealed / 1e3:.0f} KB | {wire / sealed:.0f} × |"
