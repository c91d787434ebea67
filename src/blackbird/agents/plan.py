"""What is set for one child: from its entry in the table, the user's environment and the run. Pure."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from blackbird.agents import address as addresses
from blackbird.agents.table import Client, Mode, Setting, table
from blackbox.errors import UsageError

#: What of a base URL in the table is the recorder's, and what the client's.
_TEMPLATE = re.compile(r"\{([a-z]+)\}([/\w.]*)")
#: A base URL that an earlier plan made: the name of its upstream, and the path behind it.
_OURS = re.compile(r"(?:/bbt/[^/]+)?(?:/bb/[^/]+/[^/]+/[^/]+)?/(?P<upstream>[a-z0-9-]+)(?P<path>/.*)?")
#: The variables by which programs find a proxy; a base URL on this machine must not go that way.
_PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy")
_NO_PROXY = ("NO_PROXY", "no_proxy")
#: Names of this machine; what listens here is no provider, and a proxy has no business with it.
_LOCAL = ("127.0.0.1", "localhost", "::1")
_MASK = "…"


class Route(msgspec.Struct, frozen=True):
    """Where the recorder is, and whose requests these will be."""

    address: str
    token: str | None
    session: str
    task: str
    run: str

    def base(self, upstream: str) -> str:
        """The base URL of an upstream for this run."""
        token = "" if self.token is None else f"/bbt/{self.token}"
        return f"{self.address}{token}/bb/{self.session}/{self.task}/{self.run}/{upstream}"

    def proxy(self) -> str:
        """The recorder as a forward proxy for this run."""
        return self.address.replace("://", f"://{self.run}:{self.token or 'x'}@", 1)

    def masked(self, text: str) -> str:
        """A text without the token."""
        return text if self.token is None else text.replace(self.token, _MASK)


class Place(NamedTuple):
    """Somewhere a client takes a base URL from, and what a user had put there."""

    key: str
    upstream: str
    path: str
    value: str | None = None
    port: int | None = None
    only_set: bool = False


class Situation(msgspec.Struct, frozen=True):
    """What is already there: the recorder's address and upstreams, the user's environment, files and wishes."""

    address: str
    known: Mapping[str, str]
    environ: Mapping[str, str]
    found: list[tuple[Setting, str]] = []
    given: dict[str, str] = {}
    inherited: dict[str, str] = {}
    mode: Mode | None = None
    hosts: frozenset[str] = frozenset()


class Draft(msgspec.Struct, frozen=True):
    """What will be set as soon as the run has its ids: for each place its upstream and path."""

    client: Client
    mode: Mode
    places: dict[str, tuple[str, str]]
    upstreams: dict[str, str]
    notes: list[str]
    reachable: dict[str, str]


class Plan(msgspec.Struct, frozen=True):
    """What one child gets: variables, and its whole argument vector."""

    mode: Mode
    variables: dict[str, str]
    shown: dict[str, str]
    arguments: list[str]
    upstreams: dict[str, str]
    notes: list[str]
    native_session: str | None = None


def draft(client: Client, situation: Situation) -> Draft:
    """Decide the way, and take base URLs that the user had set as upstreams of this run."""
    notes: list[str] = []
    own = dict(situation.inherited)
    places: dict[str, tuple[str, str]] = {}
    waiting: list[Place] = []
    taken: set[str] = set()
    for place in _places(client, situation, notes):
        if place.value and not addresses.leads_to(addresses.complete(place.value, place.port), situation.address):
            target = addresses.take_apart(place.value, place.path, place.port)
            name = _claim(place.upstream, target.url, own)
            own[name] = target.url
            places[place.key] = (name, target.path)
            taken.add(place.upstream)
            where = _spoken(client, place)
            notes.append(f"{where} led to {addresses.host_of(target.url)}, which this run's {name} now stands for")
        else:
            waiting.append(place)
    mode = situation.mode or ("reverse" if taken else client.mode)
    if mode == "forward":
        own = {name: url for name, url in own.items() if name in situation.inherited}
        notes = [f"{each}: calls to it are not recorded in forward mode" for each in _left_alone(client, situation)]
        notes += _bypassed(situation)
    for place in waiting:
        ours = _OURS.fullmatch(urlsplit(place.value).path) if place.value else None
        if ours is not None:
            places[place.key] = (ours["upstream"], ours["path"] or "")
        elif not place.only_set and place.upstream not in taken:
            places[place.key] = (place.upstream, place.path)
    for place in _places(client, situation, []):
        if place.upstream in situation.given and place.key in places:
            places[place.key] = (place.upstream, place.path)
    upstreams = {**own, **situation.given}
    reachable = {**situation.known, **upstreams}
    places = {key: chosen for key, chosen in places.items() if chosen[0] in reachable}
    if mode == "reverse" and not places:
        if situation.mode is not None:
            message = f"{client.title} takes no base URL from its environment or its arguments"
            raise UsageError(message, f"leave --reverse out: {client.why}")
        mode = "forward"
    return Draft(client, mode, places if mode == "reverse" else {}, upstreams, notes, reachable)


def _claim(upstream: str, url: str, own: Mapping[str, str]) -> str:
    """A name for an upstream: its own, or one with a number if another URL has that name in this run."""
    names = (upstream, *(f"{upstream}-{number}" for number in range(2, 100)))
    return next((name for name in names if own.get(name, url) == url), upstream)


def _left_alone(client: Client, situation: Situation) -> Iterator[str]:
    for place in _places(client, situation, []):
        if place.value and not addresses.leads_to(addresses.complete(place.value, place.port), situation.address):
            host = addresses.host_of(addresses.complete(place.value, place.port))
            yield f"{_spoken(client, place)} leads to {host}"


def _spoken(client: Client, place: Place) -> str:
    """A place as people know it: a variable by its name, all else is in files."""
    return place.key if place.key in client.variables else "your configuration"


def _places(client: Client, situation: Situation, notes: list[str]) -> Iterator[Place]:
    """Every place where this client takes a base URL from."""
    for name in client.variables:
        about = table().variable[name]
        value = situation.environ.get(name)
        yield Place(name, about.upstream, about.path, value, about.port, about.only_set)
    found = {setting.upstream: url for setting, url in situation.found}
    for argument in [*client.arguments, *(client.overrides if found else [])]:
        for match in _TEMPLATE.finditer(argument):
            yield Place(argument, match[1], match[2], found.get(match[1]))
    if client.inline is not None:
        theirs = _inline(client.inline.variable, situation.environ, notes)
        if theirs is not None:
            for key, template in _leaves(client.inline.content):
                whole = _TEMPLATE.fullmatch(template)
                if whole is not None:
                    value = _look_up(theirs, key)
                    yield Place(".".join(key), whole[1], whole[2], value or found.get(whole[1]))


def _inline(variable: str, environ: Mapping[str, str], notes: list[str]) -> dict[str, Any] | None:
    """The configuration that a user had put into the variable; nothing if it cannot be read."""
    try:
        content = json.loads(environ.get(variable) or "{}")
    except ValueError:
        content = None
    if isinstance(content, dict):
        return content
    notes.append(f"{variable} holds no JSON object and is left as it is")
    return None


def _leaves(content: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value


def _look_up(content: Mapping[str, Any], key: tuple[str, ...]) -> str | None:
    value: Any = content
    for word in key:
        value = value.get(word) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def fill(
    chosen: Draft,
    route: Route,
    arguments: list[str],
    environ: Mapping[str, str],
    *,
    bundle: str | None = None,
    native_session: str | None = None,
) -> Plan:
    """The plan for a run that has its ids; `bundle` is what is trusted in forward mode."""
    notes = list(chosen.notes)
    client = chosen.client
    extra: list[str] = []
    if chosen.mode == "forward":
        variables = dict.fromkeys(table().proxies, route.proxy()) | _no_proxy(environ, _LOCAL)
        if bundle is not None:
            variables |= {trust.name: bundle for trust in table().trust}
        notes += _replaced_proxy(environ, route.address)
        shown = {name: route.masked(value) for name, value in variables.items()}
    else:
        variables, extra = _reverse(chosen, route)
        if any(environ.get(name) for name in _PROXIES):
            variables |= _no_proxy(environ, [urlsplit(route.address).hostname or ""])
        shown = {name: route.masked(value) for name, value in variables.items()}
        if client.inline is not None:
            own = _content(client.inline.content, chosen, route)
            if own:
                theirs = json.loads(environ.get(client.inline.variable) or "{}")
                variables[client.inline.variable] = json.dumps(_merge(theirs, own))
                shown[client.inline.variable] = route.masked(json.dumps(own))
    if native_session is not None and client.session is not None:
        extra += [client.session.option, native_session]
    ids = {f"BLACKBIRD_{key.upper()}": getattr(route, key) for key in ("session", "task", "run")}
    whole = [arguments[0], *extra, *arguments[1:]]
    return Plan(chosen.mode, variables | ids, shown | ids, whole, chosen.upstreams, notes, native_session)


def _reverse(chosen: Draft, route: Route) -> tuple[dict[str, str], list[str]]:
    """The variables with base URLs, and the arguments."""
    urls = {key: route.base(upstream) + path for key, (upstream, path) in chosen.places.items()}
    variables = {name: urls[name] for name in chosen.client.variables if name in urls}
    for extra in chosen.client.extras:
        if addresses.host_of(chosen.reachable.get(extra.upstream, "")) == extra.host:
            variables[extra.name] = extra.value
    words: list[str] = []
    for group in (chosen.client.arguments, chosen.client.overrides):
        if any(argument in urls for argument in group):
            words += [_with_url(argument, urls.get(argument, "")) for argument in group]
    return variables, words


def _with_url(template: str, url: str) -> str:
    """A template with a URL in it, whose characters mean nothing more."""
    return _TEMPLATE.sub(lambda _: url, template)


def _content(content: Mapping[str, Any], chosen: Draft, route: Route, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """The inline configuration with this run's base URLs; branches without any are left out."""
    made: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, dict):
            below = _content(value, chosen, route, (*above, key))
            if below:
                made[key] = below
        elif ".".join((*above, key)) in chosen.places:
            upstream, path = chosen.places[".".join((*above, key))]
            made[key] = route.base(upstream) + path
    return made


def _merge(theirs: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(theirs)
    for key, value in own.items():
        before = both.get(key)
        both[key] = _merge(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return both


def _replaced_proxy(environ: Mapping[str, str], address: str) -> list[str]:
    for name in table().proxies:
        before = environ.get(name)
        if before and not addresses.leads_to(addresses.complete(before, None), address):
            return [f"your {name} is not used in this run, the recorder connects by itself"]
    return []


def _no_proxy(environ: Mapping[str, str], hosts: Sequence[str]) -> dict[str, str]:
    """The user's NO_PROXY with these hosts, which are to be reached directly; nothing if they are in it already."""
    names = [name for name in _NO_PROXY if environ.get(name)] or list(_NO_PROXY)
    added = {}
    for name in names:
        words = _words(environ.get(name, ""))
        missing = [] if "*" in words else [host for host in hosts if host not in words]
        if missing:
            added[name] = ",".join([*words, *missing])
    return added


def _bypassed(situation: Situation) -> Iterator[str]:
    """The hosts that would be recorded, and that a NO_PROXY of the user keeps away from the recorder."""
    for name in _NO_PROXY:
        words = [word.removeprefix("*").removeprefix(".") for word in _words(situation.environ.get(name, ""))]
        for host in sorted(situation.hosts):
            if any(word in ("", host) or host.endswith(f".{word}") for word in words):
                yield f"your {name} names {host}, so calls to it are not recorded"


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def takes_session(client: Client, words: list[str]) -> bool:
    """Whether the client can be told its session id: not if it continues one, or does something else."""
    if client.session is None or any(word in client.session.commands for word in words):
        return False
    letters = {option[1] for option in client.session.unless if not option.startswith("--")}
    for word in words:
        if word.partition("=")[0] in client.session.unless:
            return False
        if re.fullmatch("-[A-Za-z]{2,}", word) and letters & set(word[1:]):
            return False
    return True
