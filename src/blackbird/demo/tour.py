"""Provider, recorder and agent from start to stop: three tasks, each with what was learned in those before it."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.demo.agent import API_KEY, Agent
from blackbird.demo.chapters import CHAPTERS, GOAL, QUESTION, SESSION, Chapter
from blackbird.demo.watch import Watch
from blackbird.demo.workshop import PLANTED, Workshop
from blackbird.doors.dispatch import Dispatcher
from blackbird.doors.opening import Recalls
from blackbird.errors import RecorderFailed
from blackbird.exchange.exchange import Exchange
from blackbird.harness.session import Harness
from blackbird.home import Home
from blackbird.pack.model import Pack
from blackbird.provider import Manner, Provider
from blackbird.recall.model import Piece
from blackbird.recall.reading import Recall
from blackbird.recorder import process
from blackbird.retrieve.model import Found
from blackbird.trace.folder import Trace
from blackbird.trace.verify.findings import Report
from blackbird.trace.verify.verifier import Verifier

#: The third request is refused once, as real providers do, so that a retry is in the trace too.
_BUSY = 3
_SECRETS = (API_KEY, PLANTED)


@dataclass(frozen=True, slots=True)
class Flown:
    """What one task left behind."""

    task: str
    run: str
    pack: Pack
    requests: list[Exchange]
    last_words: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a demo left behind."""

    home: Home
    flown: list[Flown]
    found: Found
    evidence: list[Piece]
    report: Report
    leaks: list[Path] = field(default_factory=list)

    @property
    def requests(self) -> list[Exchange]:
        """All of them, in order."""
        return [request for each in self.flown for request in each.requests]

    @property
    def is_good(self) -> bool:
        """Whether the jobs were done, the trace is whole, no secret is in it, and what was found has its evidence."""
        is_done = all("passes" in each.last_words for each in self.flown)
        is_proved = bool(self.evidence) and all(piece.is_sound for piece in self.evidence)
        return self.report.is_intact and not self.leaks and is_done and is_proved


@dataclass(frozen=True, slots=True)
class Tellers:
    """Who is told what, as it happens: the steps of the tour, packs, the agent's words, each recorded request."""

    step: Callable[[str], None]
    pack: Callable[[Pack], None]
    agent: Callable[[str], None]
    recorded: Callable[[Exchange], None]


def fresh_home() -> Home:
    """A home in the temporary folder, which stays there."""
    folder = Path(tempfile.mkdtemp(prefix="blackbird-demo-"))
    return Home(folder, folder / "config.toml")


def run(home: Home, tell: Tellers, pace: float = 0.0) -> Seen:
    """Let the agent do its tasks through a recorder of this home; everything that was started is stopped."""
    with (
        tempfile.TemporaryDirectory(prefix="blackbird-job-") as folder,
        Provider(manner=Manner(gap=pace), turns={_BUSY: Manner(status=529, retry_after=0)}) as provider,
    ):
        tell.step(f"A scripted provider answers on {provider.url}; nothing leaves this machine")
        workshop = Workshop(Path(folder))
        workshop.furnish()
        config = _configured(home, provider.url)
        listen = _start_recorder(home, config)
        try:
            tell.step(f"The recorder listens on http://{listen} and keeps its trace in {home.trace}")
            flown = _fly(home, config, workshop, tell)
        finally:
            process.down(home)
        tell.step("Agent, recorder and provider have stopped")
    with Recall(home, config, door="demo") as recall:
        found = recall.search(QUESTION, session=SESSION)
        evidence = recall.evidence(found.cards[0].id) if found.cards else []
    return Seen(home, flown, found, evidence, _verify(home), _leaks(home))


def _configured(home: Home, provider_url: str) -> Config:
    options = [
        ("demo", "proxy.listen", "127.0.0.1:0"),
        ("demo", "upstreams.anthropic", provider_url),
    ]
    return load(home, options, variables={}, folder=home.path)


def _start_recorder(home: Home, config: Config) -> str:
    started = process.up(home, config)
    if started.was_running:
        message = f"a recorder runs already for {home.path}, and the demo wants one of its own"
        raise RecorderFailed(message, "blackbird down stops it; or choose another folder with --home")
    return started.listen


def _fly(home: Home, config: Config, workshop: Workshop, tell: Tellers) -> list[Flown]:
    recalls = Recalls(home, config, "demo")
    try:
        with Harness.open(SESSION, goal=GOAL, home=home) as session:
            tell.step(f"A session begins: {GOAL}")
            return [_record(session, recalls, chapter, workshop, tell) for chapter in CHAPTERS]
    finally:
        recalls.close()


def _record(session: Harness, recalls: Recalls, chapter: Chapter, workshop: Workshop, tell: Tellers) -> Flown:
    requests: list[Exchange] = []

    def note(exchange: Exchange) -> None:
        requests.append(exchange)
        tell.recorded(exchange)

    with session.start_task(chapter.order, id=chapter.task) as task:
        base_url = task.environment["ANTHROPIC_BASE_URL"]
        tell.step(f"Task {task.id}: {chapter.order}")
        tell.pack(task.pack)
        memory = Dispatcher(recalls, task.environment)
        agent = Agent(base_url, workshop, tell.agent, pack=task.pack.text, memory=memory)
        with Watch(session.home.trace, task.run, note) as watch:
            words = agent.work(chapter.order)
            watch.wait_for(agent.requests)
        return Flown(task.id, task.run, task.pack, requests, words)


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
