"""Whether the recorder runs, records, is the one that is installed, and is reached by this user alone."""

from collections.abc import Iterator
from typing import Any

from blackbird.config import values
from blackbird.doctor.facts.recorder import RecorderFacts
from blackbird.doctor.findings import Finding, error, note, ok, warning

_ANEW = "blackbird down && blackbird up"
_START = "blackbird run -- AGENT starts it and the agent; blackbird up starts it alone"


def check(facts: RecorderFacts) -> Iterator[Finding]:
    """All about the recorder."""
    if facts.config_error is not None:
        yield error("config", "the configuration cannot be used", facts.config_error, facts.config_remedy)
    if not facts.installed:
        yield error(
            "recorder-missing", "the recorder program is not installed", "", "pip install --force-reinstall blackbird"
        )
    if facts.status is None:
        yield from _down(facts)
        return
    yield from _running(facts, facts.status)
    yield from _recording(facts.status)
    yield from _reach(facts, str(facts.status.get("listen", facts.listen)))


def _down(facts: RecorderFacts) -> Iterator[Finding]:
    if facts.failure is not None or facts.silent_pid is not None:
        pid = f"process {facts.silent_pid}" if facts.silent_pid is not None else ""
        evidence = ", ".join(text for text in (facts.failure, pid) if text)
        yield error("recorder-silent", "a recorder is there and does not answer", evidence, _ANEW)
        return
    yield warning("recorder-down", "no recorder runs: nothing is being recorded", "", _START)
    if facts.port_taken:
        owner = facts.port_owner
        who = (
            f"{owner.name} (process {owner.pid})" if owner is not None else "a program that cannot be seen from here"
        )
        yield error(
            "port-taken",
            f"{facts.listen} is taken by another program",
            who,
            "end it, or choose another port: blackbird up --port 4151 (proxy.listen)",
        )


def _running(facts: RecorderFacts, status: dict[str, Any]) -> Iterator[Finding]:
    yield ok("recorder", f"a recorder runs on {status.get('listen')}", f"process {status.get('pid')}")
    if not status.get("supervisor_pid"):
        yield warning(
            "supervisor-gone", "the recorder has no supervisor: if it dies, nobody starts it again", "", _ANEW
        )
    restarts = status.get("restarts", 0)
    if restarts:
        yield warning(
            "recorder-restarts",
            f"the recorder died and was started again {restarts} time{'s' if restarts != 1 else ''}",
            "",
            "run/recorder.log in the home says why; blackbird trace verify says what is missing",
        )
    if status.get("version") != facts.version:
        evidence = f"recorder {status.get('version')}, command {facts.version}"
        yield warning("version-differs", "the recorder that runs is of another version", evidence, _ANEW)
    if facts.changed:
        yield note(
            "settings-differ",
            "the recorder runs with other settings than it would be started with now",
            ", ".join(facts.changed),
            _ANEW,
        )


def _recording(status: dict[str, Any]) -> Iterator[Finding]:
    trouble = str(status.get("last_error") or "")
    lost, dropped = status.get("lost_records", 0), status.get("dropped_chunks", 0)
    if status.get("recording") is False:
        remedy = "free some space, or make the folder writable; it records again by itself"
        yield error("not-recording", "the recorder passes traffic on and cannot record it", trouble, remedy)
    elif lost:
        yield error(
            "records-lost",
            f"{lost} records could not be written and are lost",
            trouble,
            "blackbird trace verify shows which; blackbird down && blackbird up forgets the count",
        )
    elif trouble:
        yield note("trouble-over", "the disk refused something, and that is over", trouble, "blackbird trace verify")
    else:
        yield ok("recording", "all that passes is recorded", f"{status.get('requests', 0)} requests since its start")
    if dropped:
        yield warning(
            "bodies-left-out",
            f"{dropped} pieces of bodies were left out because the queue was full",
            "proxy.lossless = false",
            "set proxy.lossless = true, or a larger proxy.queue_size",
        )


def _reach(facts: RecorderFacts, listen: str) -> Iterator[Finding]:
    if values.is_loopback(listen):
        yield ok("reach", "only this machine reaches the recorder", listen)
    else:
        with_token = "with a token" if facts.token_set else "and the file says no token now"
        yield warning(
            "reach",
            f"other machines reach the recorder, {with_token}",
            listen,
            "set proxy.listen to 127.0.0.1:4141 unless that is meant",
        )
