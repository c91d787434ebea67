"""In a network that has nothing but loopback: everything works, and nobody else is spoken to."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.peer import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

#: Runs inside of the empty network and says what it saw there.
SESSION = """
import json, sys, threading
from pathlib import Path
from tests.clients.upstream import Upstream, answering
from tests.recorder.harness import Recorder, until

OK = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\n\\r\\n{}"
POST = b"POST /%b HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 7\\r\\n\\r\\n{\\"a\\":1}"

LOOPBACK = "0100007F" if sys.byteorder == "little" else "7F000001"

def connections():
    rows = [line.split() for name in ("tcp", "tcp6", "udp", "udp6", "raw")
            for line in Path(f"/proc/self/net/{name}").read_text().splitlines()[1:]]
    ends = [(row[1].split(":"), row[2].split(":")) for row in rows]
    return {(there[0], int(here[1], 16), int(there[1], 16)) for here, there in ends if int(there[1], 16)}

def datagrams():
    lines = Path("/proc/self/net/snmp").read_text().splitlines()
    names, values = [line.split()[1:] for line in lines if line.startswith("Udp:")]
    return int(dict(zip(names, values))["OutDatagrams"])

seen, watching = set(), threading.Event()

def watch():
    while not watching.wait(0.002):
        seen.update(connections())

with Upstream(answering(OK)) as upstream:
    upstreams = {"up": upstream.url, "anthropic": "https://api.anthropic.com", "gone": "http://127.0.0.1:9"}
    recorder = Recorder(Path(sys.argv[1]) / "home", upstreams=upstreams)
    watcher = threading.Thread(target=watch)
    watcher.start()
    with recorder:
        for _ in range(20):
            with recorder.client() as client:
                assert client.ask(POST % b"up/v1/messages").head.status == 200
        quiet = datagrams()
        refused = recorder.ask(POST % b"gone/v1/messages")
        recorder.control("seal")
        recorder.control("clean", days=0, dry_run=False)
        until(lambda: recorder.control("status")["active_requests"] == 0, "the end")
        known = {upstream.port, recorder.port, 9}
        strangers = {link for link in set(seen) if link[0] != LOOPBACK or not known & set(link[1:])}
        unresolved = recorder.ask(POST % b"anthropic/v1/messages")
    watching.set()
    watcher.join()
    print(json.dumps({
        "interfaces": sorted(path.name for path in Path("/sys/class/net").iterdir()),
        "strangers": sorted(strangers),
        "reached": any(upstream.port in link for link in seen),
        "datagrams": quiet,
        "refused": [refused.head.status, json.loads(refused.body)["error"]["code"]],
        "unresolved": [unresolved.head.status, json.loads(unresolved.body)["error"]["code"]],
    }))
"""


@pytest.fixture
def empty_network() -> list[str]:
    """What a command is started with to have a network of its own, with loopback and nothing else."""
    unshare = shutil.which("unshare")
    if unshare is None or shutil.which("ip") is None:
        pytest.skip("unshare and ip are needed to make an empty network")
    inside = [unshare, "--net", "--mount", "--map-root-user"]
    tried = subprocess.run([*inside, "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"an empty network may not be made here: {tried.stderr.decode().strip()}")
    started = 'mount -t sysfs none /sys && ip link set lo up && exec "$@"'
    return [*inside, "sh", "-c", started, "sh"]


@pytest.mark.requirement("SEC-07")
def test_it_needs_no_network_and_seeks_none(home: Path, empty_network: list[str]) -> None:
    home.parent.mkdir(exist_ok=True)
    command = [*empty_network, sys.executable, "-c", SESSION, str(home.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * PATIENCE, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "interfaces": ["lo"],
        "strangers": [],
        "reached": True,
        "datagrams": 0,
        "refused": [502, "connect_failed"],
        "unresolved": [502, "connect_failed"],
    }
