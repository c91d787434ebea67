"""What tools are for."""

import pytest

from blackbird.deeds import roles
from blackbird.deeds.roles import Role, Use


@pytest.mark.parametrize(
    ("name", "servers", "role"),
    [
        ("Read", (), Role(Use.TOOL)),
        ("todo_write", (), Role(Use.TODO)),
        ("TodoWrite", (), Role(Use.TODO)),
        ("mcp__forge__list_issues", (), Role(Use.MCP, "forge", "list_issues")),
        ("mcp__my__odd__name", (), Role(Use.MCP, "my", "odd__name")),
        ("mcp_forge_list_issues", (), Role(Use.MCP, "forge", "list_issues")),
        ("mcp_my_forge_list", ("my_forge",), Role(Use.MCP, "my_forge", "list")),
        ("forge_list", ("forge",), Role(Use.MCP, "forge", "list")),
        ("forge_list", (), Role(Use.TOOL)),
        ("mcp__blackbird__memory_search", (), Role(Use.RECALL, "blackbird", "memory_search")),
        ("mcp_blackbird_memory.search", (), Role(Use.RECALL, "blackbird", "memory.search")),
        ("mcp__forge__task", (), Role(Use.MCP, "forge", "task")),
        ("", (), Role(Use.TOOL)),
    ],
)
def test_roles(name: str, servers: tuple[str, ...], role: Role) -> None:
    assert roles.role_of(name, servers) == role


def test_every_use_but_plain_ones_is_in_the_table() -> None:
    assert set(roles.table()) == {str(use) for use in Use if use not in (Use.TOOL, Use.MCP)}
