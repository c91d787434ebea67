"""The proxies that the recorder is measured beside: how each is installed, started and told where to forward."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blackbird.config import render
from blackbird.config.load import load
from blackbird.home import Home
from blackbird.recorder.program import find

ROOT = Path(__file__).resolve().parents[1]
#: Peers get environments of their own, out of the way of ours.
PEERS = ROOT / "target" / "peers"
_PATIENCE = 60.0


class Peer(msgspec.Struct, frozen=True):
    """A proxy under load: its name, and how it is started in a folder for a port and an upstream's port."""

    name: str
    command: Callable[[Path, int, int], list[str]]
    #: What is installed from the package index; nothing for programs that are there already.
    package: str = ""
    environment: dict[str, str] = {}
    #: What stands before the path.
    prefix: str = ""
    #: Why its figures need care.
    note: str = ""


_NGINX = """
worker_processes 2;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 1000000;
  upstream behind {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port}{listening};
    location / {{
      proxy_pass {scheme}://behind;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }}
  }}
}}
"""


def _nginx(folder: Path, port: int, upstream: int, scheme: str = "http", listening: str = "") -> list[str]:
    config = folder / "nginx.conf"
    text = _NGINX.format(folder=folder, port=port, upstream=upstream, scheme=scheme, listening=listening)
    config.write_text(text, encoding="utf-8")
    return [shutil.which("nginx") or "nginx", "-c", str(config)]


def _nginx_to_tls(folder: Path, port: int, upstream: int) -> list[str]:
    return _nginx(folder, port, upstream, scheme="https")


def tls_front(folder: Path, port: int, upstream: int) -> list[str]:
    """An nginx that speaks TLS before the upstream; its certificate is its own authority's, in `ca.pem`."""
    leaf = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=IP:127.0.0.1", "-addext"]
    for arguments in (
        ["-subj", "/CN=bench authority", "-keyout", "ca.key", "-out", "ca.pem"],
        ["-subj", "/CN=bench", "-keyout", "leaf.key", "-out", "leaf.pem", *leaf, "basicConstraints=CA:FALSE"],
    ):
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ]
        subprocess.run([*command, *arguments], cwd=folder, check=True, capture_output=True)
    listening = f" ssl; ssl_certificate {folder}/leaf.pem; ssl_certificate_key {folder}/leaf.key"
    return _nginx(folder, port, upstream, listening=listening)


def _mitmproxy(folder: Path, port: int, upstream: int) -> list[str]:
    program = str(PEERS / "mitmproxy" / "bin" / "mitmdump")
    mode = [
        "--mode",
        f"reverse:http://127.0.0.1:{upstream}",
        "--listen-host",
        "127.0.0.1",
        "--listen-port",
        str(port),
    ]
    kept = ["--set", f"confdir={folder}", "--set", "stream_large_bodies=1", "-w", str(folder / "flows")]
    return [program, "-q", *mode, *kept]


def _litellm(folder: Path, port: int, upstream: int) -> list[str]:
    config = folder / "litellm.yaml"
    config.write_text(
        json.dumps(
            {
                "model_list": [],
                "general_settings": {
                    "pass_through_endpoints": [
                        {"path": path, "target": f"http://127.0.0.1:{upstream}{path}"} for path in ("/json", "/sse")
                    ]
                },
            }
        ),
        encoding="utf-8",
    )
    program = str(PEERS / "litellm" / "bin" / "litellm")
    return [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]


def _claude_tap(folder: Path, port: int, upstream: int) -> list[str]:
    program = str(PEERS / "claude-tap" / "bin" / "claude-tap")
    target = ["--tap-target", f"http://127.0.0.1:{upstream}", "--tap-port", str(port)]
    allowed = ["--tap-allow-path", "/json", "--tap-allow-path", "/sse", "--tap-host", "127.0.0.1"]
    return ["env", f"HOME={folder}", program, "--tap-no-launch", "--tap-no-live", "--tap-no-open", *allowed, *target]


def recorder_home(folder: Path) -> Home:
    """The home of a recorder that is measured in a folder."""
    return Home(folder / "home", folder / "config.toml")


def recorder_config(folder: Path, port: int, upstream: int, **changes: Any) -> Path:
    """A resolved configuration of the recorder, all defaults but for where it listens and forwards."""
    home = recorder_home(folder)
    options = [
        ("bench", "proxy.listen", f"127.0.0.1:{port}"),
        ("bench", "proxy.upstream_url", f"http://127.0.0.1:{upstream}"),
        ("bench", "proxy.drain_seconds", "5"),
    ]
    config = render.recorder_config(load(home, options, variables={}, folder=folder), home)
    for key, value in {"upstreams": {}, "intercept": {}, **changes}.items():
        config[key] = {**config[key], **value} if isinstance(value, dict) and value else value
    home.run.mkdir(parents=True, exist_ok=True)
    home.recorder_json.write_text(json.dumps(config), encoding="utf-8")
    return home.recorder_json


def _recorder(**changes: Any) -> Callable[[Path, int, int], list[str]]:
    def command(folder: Path, port: int, upstream: int) -> list[str]:
        return [str(find()), "serve", "--config", str(recorder_config(folder, port, upstream, **changes))]

    return command


def _recorder_to_tls(folder: Path, port: int, upstream: int) -> list[str]:
    authority = str(folder.parents[2] / "ca.pem")
    address = f"https://127.0.0.1:{upstream}"
    config = recorder_config(folder, port, upstream, default_upstream=address, ca_file=authority)
    return [str(find()), "serve", "--config", str(config)]


OURS = "blackbird"
DIRECT = "direct"
BASELINE = "nginx"

ALL = (
    Peer(BASELINE, _nginx, note="records nothing"),
    Peer(OURS, _recorder()),
    Peer("claude-tap", _claude_tap, "claude-tap"),
    Peer("mitmproxy", _mitmproxy, "mitmproxy", note="streams, and so keeps no bodies"),
    Peer(
        "LiteLLM",
        _litellm,
        "litellm[proxy]",
        {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"},
        note="pass-through endpoints, one worker",
    ),
)

#: Before an upstream that speaks TLS; `ca.pem` of its authority stands three folders up.
BEFORE_TLS = (
    Peer(BASELINE, _nginx_to_tls, note="checks no certificate"),
    Peer(OURS, _recorder_to_tls),
)

#: The recorder with parts switched off, to say what each costs.
VARIANTS = (
    Peer("privacy mode (no bodies)", _recorder(mode="privacy")),
    Peer(
        "no redaction classes",
        _recorder(redaction={"off": ["assignments", "headers", "identity", "jwt", "keys", "pem", "url"]}),
    ),
    Peer(
        "written, never synced",
        _recorder(trace={"persist": "written", "seal": False}),
    ),
)


def install(peer: Peer) -> bool:
    """See that a peer is there; tells whether it is."""
    if peer.name == BASELINE:
        return shutil.which("nginx") is not None
    if not peer.package:
        return True
    folder = PEERS / peer.package.partition("[")[0]
    if (folder / "installed").exists():
        return True
    print(f"bench: installing {peer.package}", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    done = subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", peer.package], check=False)
    if done.returncode == 0:
        (folder / "installed").touch()
    return done.returncode == 0


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process accepts connections."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"bench: {process.args!r} does not answer on port {port}")


@contextlib.contextmanager
def running(command: list[str], port: int, log: Path, environment: dict[str, str]) -> Iterator[int]:
    """A process group that listens on a port, for as long as it is needed."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **environment}, start_new_session=True
        )
        try:
            wait_for(port, process)
            yield process.pid
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
