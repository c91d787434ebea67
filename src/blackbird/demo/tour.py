"""Provider, recorder and agent from start to stop, and what there is to see afterwards."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from blackbird.config.load import load
from blackbird.demo.agent import API_KEY, Agent
from blackbird.demo.watch import Watch
from blackbird.demo.workshop import PLANTED, Workshop
from blackbird.errors import RecorderFailed
from blackbird.exchange.exchange import Exchange
from blackbird.home import Home
from blackbird.provider import Manner, Provider
from blackbird.recorder import control, process
from blackbird.trace.folder import Trace
from blackbird.trace.verify.findings import Report
from blackbird.trace.verify.verifier import Verifier

SESSION = "demo"
TASK = "repair"
_ORDER = "The test of calc.py fails. Find out why, and mend it."
#: The third request is refused once, as real providers do, so that a retry is in the trace too.
_BUSY = 3
_SECRETS = (API_KEY, PLANTED)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a demo left behind."""

    home: Home
    run: str
    requests: list[Exchange]
    last_words: str
    report: Report
    leaks: list[Path]

    @property
    def is_good(self) -> bool:
        """Whether the job was done, the trace is whole, and no secret is in it."""
        return self.report.is_intact and not self.leaks and "passes" in self.last_words


@dataclass(frozen=True, slots=True)
class Tellers:
    """Who is told what, as it happens: the steps of the tour, the agent's words, each recorded request."""

    step: Callable[[str], None]
    agent: Callable[[str], None]
    recorded: Callable[[Exchange], None]


def fresh_home() -> Home:
    """A home in the temporary folder, which stays there."""
    folder = Path(tempfile.mkdtemp(prefix="blackbird-demo-"))
    return Home(folder, folder / "config.toml")


def run(home: Home, tell: Tellers, pace: float = 0.0) -> Seen:
    """Let the agent do its job through a recorder of this home; everything that was started is stopped."""
    with (
        tempfile.TemporaryDirectory(prefix="blackbird-job-") as folder,
        Provider(manner=Manner(gap=pace), turns={_BUSY: Manner(status=529, retry_after=0)}) as provider,
    ):
        tell.step(f"A scripted provider answers on {provider.url}; nothing leaves this machine")
        workshop = Workshop(Path(folder))
        workshop.furnish()
        listen = _start_recorder(home, provider.url)
        try:
            tell.step(f"The recorder listens on http://{listen} and keeps its trace in {home.trace}")
            name, requests, words = _record(home, listen, workshop, tell)
        finally:
            process.down(home)
        tell.step("Agent, recorder and provider have stopped")
    return Seen(home, name, requests, words, _verify(home), _leaks(home))


def _start_recorder(home: Home, provider_url: str) -> str:
    options = [
        ("demo", "proxy.listen", "127.0.0.1:0"),
        ("demo", "upstreams.anthropic", provider_url),
    ]
    config = load(home, options, variables={}, folder=home.path)
    started = process.up(home, config)
    if started.was_running:
        message = f"a recorder runs already for {home.path}, and the demo wants one of its own"
        raise RecorderFailed(message, "blackbird down stops it; or choose another folder with --home")
    return started.listen


def _record(home: Home, listen: str, workshop: Workshop, tell: Tellers) -> tuple[str, list[Exchange], str]:
    registered = control.request(home, {"op": "register", "session": SESSION, "task": TASK, "run": None, "data": {}})
    name: str = registered["run"]
    base_url = f"http://{listen}/bb/{SESSION}/{TASK}/{name}/anthropic"
    tell.step(f"An agent works through {base_url}")
    requests: list[Exchange] = []

    def note(exchange: Exchange) -> None:
        requests.append(exchange)
        tell.recorded(exchange)

    agent = Agent(base_url, workshop, tell.agent)
    with Watch(home.trace, name, note) as watch:
        words = agent.work(_ORDER)
        event = {"op": "event", "event": "run.end", "session": SESSION, "task": TASK, "run": name, "data": {}}
        control.request(home, event)
        watch.wait_for(agent.requests)
    return name, requests, words


def _verify(home: Home) -> Report:
    trace = Trace(home.trace)
    verifier = Verifier(trace.synced(), None)
    for place, content in trace.contents():
        verifier.add(place, content)
    return verifier.finish()


def _leaks(home: Home) -> list[Path]:
    """The files of the home that have one of the planted secrets."""
    files = [path for path in sorted(home.path.rglob("*")) if path.is_file()]
    return [path for path in files if any(secret.encode() in path.read_bytes() for secret in _SECRETS)]
