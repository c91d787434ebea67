"""The variables that send any client through the recorder: base URLs, and whose the requests are."""

from collections.abc import Container, Mapping

from blackbird.agents import address, table


def variables(listen: str, token: str | None, upstreams: Container[str], run: Mapping[str, str]) -> dict[str, str]:
    """For a recorder that listens there, and for a run if one has begun: its session, task and run."""
    base = address.connectable(listen)
    if token is not None:
        base += f"/bbt/{token}"
    if run:
        base += f"/bb/{run['session']}/{run['task']}/{run['run']}"
    known = table.table().variable
    found = {
        name: f"{base}/{known[name].upstream}{known[name].path}"
        for name in table.other().variables
        if known[name].upstream in upstreams
    }
    return found | {f"BLACKBIRD_{key.upper()}": run[key] for key in ("session", "task", "run") if run}
