"""The tools as they are listed."""

import json

import msgspec
import pytest

from blackbird.artifacts.model import Type
from blackbird.doors import schema


@pytest.mark.requirement("MCP-01", "MCP-02", "MCP-03")
def test_the_four_tools_are_published_without_dots() -> None:
    assert [tool["name"] for tool in schema.listed()] == [
        "memory_search",
        "memory_get",
        "memory_context_for_task",
        "memory_related",
    ]


@pytest.mark.requirement("MCP-01")
def test_dotted_names_are_aliases_and_not_listed() -> None:
    assert {name: tool.name for name in schema.ALIASES if (tool := schema.find(name)) is not None} == {
        "memory.search": "memory_search",
        "memory.get": "memory_get",
        "memory.context_for_task": "memory_context_for_task",
        "memory.related": "memory_related",
    }
    assert "memory." not in json.dumps(schema.listed())
    assert schema.find("memory.forget") is None


def test_what_clients_load_of_the_tools_is_small() -> None:
    assert len(schema.TOOLS) <= 6
    assert len(json.dumps({"tools": schema.listed()})) <= 5_000
    assert schema.INSTRUCTIONS.count(".") == 3


def test_the_schema_of_a_search_is_plain() -> None:
    found = schema.BY_NAME["memory_search"].schema
    assert found["required"] == ["query"]
    assert found["additionalProperties"] is False
    assert found["properties"]["k"] == {
        "description": "How many cards at most.",
        "type": "integer",
        "minimum": 1,
        "maximum": 20,
    }
    assert sorted(found["properties"]["types"]["items"]["enum"]) == sorted(Type)
    assert not {"$ref", "anyOf", "null"} & set(json.dumps(found).replace('"', " ").split())


@pytest.mark.parametrize("tool", schema.TOOLS, ids=lambda tool: tool.name)
def test_what_the_schema_requires_is_what_the_arguments_require(tool: schema.Tool) -> None:
    fields = msgspec.structs.fields(tool.arguments)
    assert list(tool.schema["properties"]) == [field.name for field in fields]
    assert tool.schema["required"] == [field.name for field in fields if field.required]
