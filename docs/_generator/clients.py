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


def equipment_table() -> str:
    """How each client is given the context pack, and told of the memory's tools."""
    head = ["| client | the pack | the tools |", "|---|---|---|"]
    return "\n".join([*head, *(_equipment(client) for client in clients() if client.pack or client.mcp)])


def _equipment(client: Client) -> str:
    return f"| {client.title} | {_pack(client)} | {_tools(client)} |"


def _pack(client: Client) -> str:
    way = client.pack
    if way is None:
        return "no way"
    return {
        "hook": "a hook at the start of a session",
        "option": f"`{way.option} FILE`",
        "variable": f"`{way.variable}`",
        "prompt": "before the prompt, if one is given: " + ", ".join(f"`{option}`" for option in way.options),
    }[way.way]


def _tools(client: Client) -> str:
    way = client.mcp
    if way is None:
        return f"`blackbird install {client.name}` alone" if client.install else "no way"
    return f"`{way.variable or way.option}`"
