"""What is known of a session besides what happened in it: from its runs, its agents' own logs and its requests."""

from collections import Counter
from typing import Any

from blackbird.canon.model import Generation, Item
from blackbird.exchange import payloads
from blackbird.exchange.exchange import Exchange, State
from blackbird.timeline import statements
from blackbird.timeline.timeline import About

_MCP_PREFIX = "mcp__"


class Facts:
    """Facts of a session as they come in. What was said first stands, but for what a run itself states of its end."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._words: dict[str, str] = {}
        self._run: dict[str, Any] = {}
        self._tools: dict[str, str] = {}
        self._mcp: dict[str, None] = {}
        self._models: dict[str, None] = {}
        self._natives: dict[str, None] = {}
        self._runs: dict[str, None] = {}
        self._tasks: dict[str, None] = {}
        self._open_runs: set[str] = set()
        self._policy: str | None = None
        self._first: int | None = None
        self._last: int | None = None
        self._redactions: Counter[str] = Counter()
        self._active = 0

    def state(self, fields: dict[str, Any], wall: int) -> None:
        """What a harness or a user stated."""
        event, data = fields.get("event"), payloads.inner(fields, "data")
        run, task = payloads.text(fields, "run"), payloads.text(fields, "task")
        if event in statements.ABOUT_SESSION:
            self._plan(str(event), data, task, wall)
        if run is None or not str(event).startswith("run."):
            return
        self._runs.setdefault(run)
        if task is not None:
            self._tasks.setdefault(task)
        if event == "run.end":
            self._open_runs.discard(run)
            self._run.pop("exit_code", None)
            self._run.pop("signal", None)
        elif event == "run.start":
            self._open_runs.add(run)
        self._run.update({key: value for key, value in data.items() if value is not None})
        tools = data.get("tools")
        if isinstance(tools, dict):
            self._tools.update({name: str(version) for name, version in tools.items()})
        self.touch(wall)

    def _plan(self, event: str, data: payloads.Fields, task: str | None, wall: int) -> None:
        """What was stated of the session as a whole, or of one of its tasks."""
        if event == statements.GOAL:
            self._words["goal"] = payloads.text(data, "text") or self._words.get("goal", "")
        folder = payloads.text(data, "folder")
        if event == statements.SESSION_START and folder is not None:
            self._words.setdefault("cwd", folder)
        if task is not None:
            self._tasks.setdefault(task)
        self.touch(wall)

    def know(self, about: dict[str, str], native: str | None) -> None:
        """What an agent's own log says."""
        if native is not None:
            self._natives.setdefault(native)
        if "client" in about and "client" not in self._words:
            # A version that was told before is of something that this one runs.
            self._words.pop("version", None)
        for key, value in about.items():
            # A title may be given anew; the rest is as it was when the session began.
            if key == "title":
                self._words[key] = value
            else:
                self._words.setdefault(key, value)

    def exchange(self, exchange: Exchange) -> None:
        """What a request says of itself."""
        if exchange.run is not None and exchange.attribution == "run":
            self._runs.setdefault(exchange.run)
        if exchange.task is not None:
            self._tasks.setdefault(exchange.task)
        self._policy = exchange.policy or self._policy
        self._active += exchange.state is State.ACTIVE
        for body in (exchange.request_body, exchange.response_body):
            self._redactions.update(body.redactions)
        if exchange.started_ns is not None:
            self.touch(exchange.started_ns)
            self.touch(exchange.started_ns + 1000 * (exchange.timings.total_us or 0))

    def sender(self, name: str | None, version: str | None, native: str | None) -> None:
        """Who sent a request, by its own word."""
        if native is not None:
            self._natives.setdefault(native)
        if name is not None:
            self._words.setdefault("client", name)
        if version is not None:
            self._words.setdefault("version", version)

    def item(self, item: Item) -> None:
        """What happened, as far as it says something of the session as a whole."""
        if item.at is not None and not item.is_inherited:
            self.touch(item.at)
        if isinstance(item, Generation):
            if item.model is not None:
                self._models.setdefault(item.model)
            servers = (name.split("__")[1] for name in item.tools if name.startswith(_MCP_PREFIX))
            self._mcp.update(dict.fromkeys(server for server in servers if server))

    def touch(self, wall: int) -> None:
        """Something happened then."""
        self._first = wall if self._first is None else min(self._first, wall)
        self._last = wall if self._last is None else max(self._last, wall)

    def about(self) -> About:
        """All of it."""
        run = self._run
        dirty = run.get("dirty")
        return About(
            session=self._session,
            title=self._word("title"),
            goal=self._word("goal"),
            slug=self._word("slug"),
            cwd=self._word("cwd"),
            repository=self._word("repository"),
            root=self._word("root"),
            sha=self._word("sha"),
            branch=self._word("branch"),
            sandbox=self._word("sandbox"),
            client=payloads.text(run, "client") or self._words.get("client") or payloads.text(run, "program"),
            client_version=payloads.text(run, "client_version") or self._words.get("version"),
            dirty=dirty if isinstance(dirty, bool) else None,
            tools=self._tools,
            mcp=tuple(self._mcp),
            models=tuple(self._models),
            natives=tuple(self._natives),
            runs=tuple(self._runs),
            tasks=tuple(self._tasks),
            policy=self._policy,
            began=self._first,
            ended=self._last,
            is_active=bool(self._active or self._open_runs),
            exit_code=payloads.number(run, "exit_code"),
            signal=str(run["signal"]) if run.get("signal") is not None else None,
            redactions=dict(self._redactions),
        )

    def _word(self, key: str) -> str | None:
        """What a run states; else what was said first, or last if it is a title."""
        return payloads.text(self._run, key) or self._words.get(key)
