"""The clients that `blackbird run` knows, as a table."""

from blackbird.agents.table import Client, clients


def client_table() -> str:
    """Every client with the way it is recorded by itself, what is set for it otherwise, and why."""
    head = ["| client | program | by itself | with `--reverse` | why |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(_row(client) for client in clients())])


def _row(client: Client) -> str:
    programs = ", ".join(f"`{name}`" for name in client.programs) or "any other"
    names = [f"`{name}`" for name in client.variables]
    if client.arguments:
        names.append(f"`{client.arguments[0]} {client.arguments[1].partition('=')[0]}`")
    if client.inline is not None:
        names.append(f"`{client.inline.variable}`")
    title = client.title if client.programs else "other programs"
    return f"| {title} | {programs} | {client.mode} | {', '.join(names) or 'no way'} | {client.why} |"
