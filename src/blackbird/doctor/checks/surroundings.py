"""Whether something that is set leads agents past the recorder, or deletes what they log themselves."""

from collections.abc import Iterator

from blackbird.agents.table import clients
from blackbird.doctor.facts.logs import Logs
from blackbird.doctor.facts.surroundings import PROXIES, Pointer, Retention, Surroundings
from blackbird.doctor.findings import Finding, note, ok, warning
from blackbird.doctor.native import Client

_DAY_NS = 86_400 * 1_000_000_000
_KEEP = {
    Client.CLAUDE: "to keep them, set cleanupPeriodDays to 36500 in {file}",
    Client.GEMINI: "to keep them, set general.sessionRetention.enabled to false in {file}",
    Client.CODEX: 'to have them, set history.persistence to "save-all" in {file}',
}


def check(found: Surroundings, logs: list[Logs], listen: str, now_ns: int, *, is_running: bool) -> Iterator[Finding]:
    """All about what surrounds the recorder."""
    pointers = [(each, "variable") for each in found.variables] + [(each, "setting") for each in found.settings]
    for pointer, kind in pointers:
        yield _base_url(pointer, kind, listen, is_running=is_running)
    if not pointers:
        yield ok("base-urls", "no base URL is set that leads past the recorder")
    if found.proxies:
        names = ", ".join(f"{each.name} = {each.host}" for each in found.proxies)
        yield note(
            "proxy-set",
            "a proxy is set in the environment; the recorder itself goes to providers without it",
            names,
            "blackbird run --forward -- AGENT sets it aside for that agent alone",
        )
    for problem in found.unreadable:
        yield note("settings-unreadable", "settings of an agent cannot be read, and were not looked at", problem)
    ages = {each.client: each for each in logs}
    for retention in found.retentions:
        yield from _retention(retention, ages.get(retention.client), now_ns)


def _base_url(pointer: Pointer, kind: str, listen: str, *, is_running: bool) -> Finding:
    told = f"the {kind} {pointer.name}"
    name = f"{kind}-{pointer.name.rpartition('.')[2].lower().replace('_', '-')}"
    evidence = f"{pointer.host}, in {pointer.place}"
    if pointer.host in (listen, listen.replace("127.0.0.1", "localhost")):
        if is_running:
            return ok(name, f"{told} leads to the recorder", evidence)
        text = f"{told} leads to the recorder, which does not run: agents reach nobody"
        return warning(name, text, evidence, "blackbird up")
    if kind == "variable":
        return note(
            name,
            f"{told} leads agents of this shell past the recorder",
            evidence,
            "blackbird run takes it as where to send on; without it: unset " + pointer.name,
        )
    return note(
        name,
        f"{told} leads an agent past the recorder, and may count for more than a variable",
        evidence,
        _remedy(pointer.name),
    )


def _remedy(key: str) -> str:
    """What to do about a setting that leads past the recorder."""
    if any(key == setting.key for client in clients() for setting in client.files):
        return "blackbird run -- AGENT records it, and takes it as where to send on"
    if key.rpartition(".")[2] in PROXIES:
        return "take the line out of that file: with it, nothing of that agent is recorded"
    return (
        "take the line out of that file, or set the URL as an upstream of the recorder: blackbird run -- AGENT "
        "then records it if it is https"
    )


def _retention(retention: Retention, logs: Logs | None, now_ns: int) -> Iterator[Finding]:
    client = retention.client
    if retention.is_off:
        yield ok(f"{client}-keeps", f"{client} keeps its own logs", retention.text)
        return
    age = ""
    if logs is not None and logs.oldest_ns is not None:
        days = max(0, now_ns - logs.oldest_ns) // _DAY_NS
        age = f"{logs.files} log{'s' if logs.files != 1 else ''}, the oldest from {days} days ago"
    elif client is not Client.CODEX:
        return  # there is nothing it could delete
    if client is Client.CODEX:
        what = f"{client} keeps no history of its own"
    else:
        since = ", which is its default" if retention.is_default else ""
        what = f"{client} deletes its own logs after {retention.text}{since}"
    yield note(f"{client}-retention", what, age, _KEEP[client].format(file=retention.file))
