"""The official client libraries get the same answers through the recorder as without it."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai

from blackbird.provider import Manner, Provider
from tests.recorder.harness import Recorder
from tests.recorder.trace_view import exchanges

Ask = Callable[[str], Any]
TOOL: dict[str, object] = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
}
WORDS = "fix the test"


def _anthropic(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key="sk-ant-api03-not-a-real-key", max_retries=0)


def anthropic_whole(url: str) -> Any:
    with _anthropic(url) as client:
        return client.messages.create(
            model="m", max_tokens=99, messages=[{"role": "user", "content": WORDS}]
        ).model_dump()


def anthropic_stream(url: str) -> Any:
    with (
        _anthropic(url) as client,
        client.messages.stream(
            model="m",
            max_tokens=99,
            messages=[{"role": "user", "content": WORDS}],
            tools=[{"name": "bash", "input_schema": TOOL}],
        ) as stream,
    ):
        events = [event.model_dump() for event in stream]
        return events, stream.get_final_message().model_dump()


def anthropic_count(url: str) -> Any:
    with _anthropic(url) as client:
        return client.messages.count_tokens(model="m", messages=[{"role": "user", "content": WORDS}]).model_dump()


def _openai(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="sk-not-a-real-key", max_retries=0)


def chat_whole(url: str) -> Any:
    with _openai(url) as client:
        return client.chat.completions.create(model="m", messages=[{"role": "user", "content": WORDS}]).model_dump()


def chat_stream(url: str) -> Any:
    with _openai(url) as client:
        stream: Any = client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": WORDS}],
            tools=[{"type": "function", "function": {"name": "bash", "parameters": TOOL}}],
            stream=True,
        )
        return [chunk.model_dump() for chunk in stream]


def responses_whole(url: str) -> Any:
    with _openai(url) as client:
        return client.responses.create(model="m", input=WORDS).model_dump()


def responses_stream(url: str) -> Any:
    with _openai(url) as client:
        return [event.model_dump() for event in client.responses.create(model="m", input=WORDS, stream=True)]


def _gemini(url: str) -> genai.Client:
    return genai.Client(api_key="AIza-not-a-real-key", http_options={"base_url": url})


def gemini_whole(url: str) -> Any:
    with _gemini(url) as client:
        answer = client.models.generate_content(model="m", contents=WORDS)
        return answer.model_dump(exclude={"sdk_http_response"})


def gemini_stream(url: str) -> Any:
    with _gemini(url) as client:
        chunks = client.models.generate_content_stream(model="m", contents=WORDS)
        return [chunk.model_dump(exclude={"sdk_http_response"}) for chunk in chunks]


def ollama_whole(url: str) -> Any:
    with ollama.Client(host=url) as client:
        return client.chat("m", messages=[{"role": "user", "content": WORDS}]).model_dump()


def ollama_stream(url: str) -> Any:
    with ollama.Client(host=url) as client:
        return [part.model_dump() for part in client.generate("m", prompt=WORDS, stream=True)]


CLIENTS: list[Ask] = [
    anthropic_whole,
    anthropic_stream,
    anthropic_count,
    chat_whole,
    chat_stream,
    responses_whole,
    responses_stream,
    gemini_whole,
    gemini_stream,
    ollama_whole,
    ollama_stream,
]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(manner=Manner(encoding="accepted")) as running:
        yield running


@pytest.fixture(scope="module")
def recorder(provider: Provider) -> Iterator[Recorder]:
    with (
        tempfile.TemporaryDirectory(prefix="bb") as folder,
        Recorder(Path(folder) / "home", upstreams={"up": provider.url}) as running,
    ):
        yield running


@pytest.mark.requirement("PROXY-01", "PROXY-03", "PROXY-05")
@pytest.mark.parametrize("ask", CLIENTS, ids=lambda ask: str(ask.__name__))
def test_a_client_library_sees_no_difference(provider: Provider, recorder: Recorder, ask: Ask) -> None:
    before = len(exchanges(recorder.trace))
    expected = ask(provider.url)
    direct = provider.received[-1]
    assert ask(f"http://127.0.0.1:{recorder.port}/bb/s/t/r/up") == expected
    through = provider.received[-1]
    assert (through.request_line, through.body) == (direct.request_line, direct.body)
    assert [name for name, _ in through.fields] == [name for name, _ in direct.fields]
    exchange = recorder.exchanges(1, after=before)[0]
    assert exchange.request == direct.body
    assert exchange.end["response"]["complete"] is True
    assert exchange.start["session"] == "s"
    assert recorder.holds(b"not-a-real-key") == []
