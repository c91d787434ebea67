"""The tools as each provider's API takes them."""

import json
from typing import Any

import anthropic.types
import openai.types.chat
import openai.types.responses
import pydantic
import pytest
from google.genai import types as genai

from blackbird.doors import adapters, schema

NAMES = list(schema.BY_NAME)


@pytest.mark.requirement("SCHEMA-01")
def test_each_api_has_all_tools_by_the_same_names_and_words() -> None:
    chat = [tool["function"] for tool in adapters.tools("openai-chat")]
    (gemini,) = adapters.tools("gemini")
    lists = [chat, adapters.tools("openai-responses"), adapters.tools("anthropic"), gemini["functionDeclarations"]]
    for told in lists:
        assert [tool["name"] for tool in told] == NAMES
        assert [tool["description"] for tool in told] == [tool.description for tool in schema.TOOLS]


@pytest.mark.requirement("SCHEMA-01")
@pytest.mark.parametrize(
    ("api", "kind"),
    [
        ("openai-chat", list[openai.types.chat.ChatCompletionFunctionToolParam]),
        ("openai-responses", list[openai.types.responses.FunctionToolParam]),
        ("anthropic", list[anthropic.types.ToolParam]),
        ("gemini", list[genai.Tool]),
    ],
)
def test_the_libraries_take_them(api: str, kind: Any) -> None:
    pydantic.TypeAdapter(kind).validate_python(adapters.tools(api))


def test_the_responses_api_must_not_take_all_arguments_for_required() -> None:
    assert {tool["strict"] for tool in adapters.tools("openai-responses")} == {False}


def test_for_gemini_a_schema_has_no_word_that_its_api_does_not_know() -> None:
    text = json.dumps(adapters.tools("gemini"))
    assert not [word for word in ("additionalProperties", "minLength", "maximum", "maxItems") if word in text]
    (tool,) = adapters.tools("gemini")
    assert tool["functionDeclarations"][0]["parameters"]["required"] == ["query"]
