"""Runs through the forward proxy, and runs with upstreams of their own."""

import json
import shlex
import stat
import sys
from pathlib import Path

import pytest

from blackbird.provider import Provider
from tests.blackbird.launch.cockpit import BLACKBIRD, Cockpit
from tests.blackbird.launch.test_flight import SDKS, agent, lines

CLIENTS = ("anthropic", "openai", "gemini")
#: A tool of an agent that goes through the proxy to a host that is none of a provider's.
TUNNEL = """
import http.client, os, sys, urllib.parse, base64
proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
connection = http.client.HTTPConnection(proxy.hostname, proxy.port)
basic = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
connection.set_tunnel("127.0.0.1", int(sys.argv[1]), {"Proxy-Authorization": f"Basic {basic}"})
connection.request("GET", "/v1/models")
print(connection.getresponse().status)
"""
TRUSTED = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CODEX_CA_CERTIFICATE")


def test_the_sdks_go_through_the_proxy_with_no_base_url_at_all(shared: Cockpit) -> None:
    told = shared.flight("--forward", *agent(*CLIENTS))
    assert (told["exit_code"], told["calls"], told["failed"], told["tunnels"]) == (0, 3, {}, 0)
    found = shared.exchanges(told["run"])
    assert [each.start["upstream"] for each in found] == list(CLIENTS)
    assert {each.start["via"] for each in found} == {"forward"}
    assert {each.start["attribution"] for each in found} == {"run"}
    assert told["masked"] == {"aws_access_key_id": 3}


def test_what_is_set_in_forward_mode(shared: Cockpit) -> None:
    done = shared.run("--forward", "--session", "s", "--task", "t", "--", "env", "-0")
    after = dict(entry.split("=", 1) for entry in done.stdout.decode().split("\0") if entry)
    added = {name: value for name, value in after.items() if shared.environ.get(name) != value and name != "_"}
    run = added["BLACKBIRD_RUN"]
    listen = json.loads(shared.home.recorder_json.read_bytes())
    assert listen["token"] is None
    (bundle,) = {added.pop(name) for name in TRUSTED}
    proxy = added.pop("HTTPS_PROXY")
    assert proxy.startswith(f"http://{run}:x@127.0.0.1:")
    local = "127.0.0.1,localhost,::1"
    assert added == {
        "https_proxy": proxy,
        "NO_PROXY": local,
        "no_proxy": local,
        "BLACKBIRD_SESSION": "s",
        "BLACKBIRD_TASK": "t",
        "BLACKBIRD_RUN": run,
    }
    assert stat.S_IMODE(Path(bundle).stat().st_mode) == 0o600
    assert (shared.home.path / "ca" / "ca.pem").read_text() in Path(bundle).read_text()


def test_a_tunnel_is_told_and_is_no_call(shared: Cockpit) -> None:
    with Provider() as stranger:
        done = shared.run("--forward", "--json", "--", sys.executable, "-c", TUNNEL, str(stranger.port))
        assert [request.path for request in stranger.received] == ["/v1/models"]
    told = json.loads(lines(done.stderr)[-1])
    assert done.stdout == b"200\n"
    assert (told["calls"], told["tunnels"]) == (0, 1)


def test_a_base_url_of_the_user_is_where_calls_go(shared: Cockpit) -> None:
    with Provider() as gateway:
        url = gateway.url
        before = len(shared.provider.received)
        done = shared.run(
            "--json", *agent("anthropic", "openai"), environ={"ANTHROPIC_BASE_URL": f"{gateway.url}/own"}
        )
        told = json.loads(lines(done.stderr)[-1])
        assert [request.path for request in gateway.received] == ["/own/v1/messages"]
        assert [request.path for request in shared.provider.received[before:]] == ["/v1/chat/completions"]
    assert (told["exit_code"], told["calls"]) == (0, 2)
    urls = {each.start["upstream"]: each.start["url"] for each in shared.exchanges(told["run"])}
    assert urls["anthropic"] == f"{url}/own/v1/messages"


def test_the_start_says_where_calls_go(shared: Cockpit) -> None:
    done = shared.run("--", "true", environ={"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/own"})
    told = "; ANTHROPIC_BASE_URL led to 127.0.0.1:9, which this run's anthropic now stands for"
    assert lines(done.stderr)[0].endswith(told)


@pytest.mark.parametrize("name", ["qwen", "agent"])
def test_a_base_url_in_a_dotenv_file_counts_for_a_client_that_reads_it(shared: Cockpit, name: str) -> None:
    program = shared.work / name
    words = shlex.join([sys.executable, "-c", SDKS, "openai"])
    program.write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
    program.chmod(0o700)
    with Provider() as gateway:
        path = shared.work / ".env"
        path.write_text(f"# mine\nexport OPENAI_BASE_URL='{gateway.url}/v1' # local\n", encoding="utf-8")
        try:
            told = shared.flight("--", str(program))
        finally:
            path.unlink()
        reached = [request.path for request in gateway.received]
    assert reached == (["/v1/chat/completions"] if name == "qwen" else [])
    assert told["calls"] == 1


def test_a_run_in_a_run_keeps_the_upstream(shared: Cockpit) -> None:
    with Provider() as gateway:
        inner = [str(BLACKBIRD), "run", "--quiet", "--", sys.executable, "-c", SDKS, "anthropic"]
        done = shared.run("--quiet", "--", *inner, environ={"ANTHROPIC_BASE_URL": gateway.url})
        assert done.returncode == 0, done.stderr
        assert [request.path for request in gateway.received] == ["/v1/messages"]


@pytest.mark.parametrize("way", ["--forward", "--reverse"])
def test_an_upstream_by_hand(shared: Cockpit, way: str) -> None:
    with Provider() as gateway:
        told = shared.flight("--upstream", f"anthropic={gateway.url}/own/", way, *agent("anthropic"))
        assert [request.path for request in gateway.received] == ["/own/v1/messages"]
    assert (told["exit_code"], told["calls"]) == (0, 1)


def test_with_a_token(alone: Cockpit) -> None:
    token = "a-long-random-word"
    environ = {
        "BLACKBIRD_PROXY_TOKEN": token,
        "BLACKBIRD_PROXY_LISTEN": "127.0.0.1:0",
        **{f"BLACKBIRD_UPSTREAMS_{name.upper()}": alone.provider.url for name in CLIENTS},
    }
    for way in ("--reverse", "--forward"):
        done = alone.run("--json", way, *agent(*CLIENTS), environ=environ)
        assert json.loads(lines(done.stderr)[-1])["calls"] == 3
        assert token.encode() not in done.stdout + done.stderr
    shown = alone.run("--", "true", environ=environ)
    assert token.encode() not in shown.stderr
    held = [path for path in alone.home.path.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert [path.name for path in held] == ["recorder.json"]
