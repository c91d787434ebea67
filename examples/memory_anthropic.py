"""A model of the Messages API that uses the memory: `python memory_anthropic.py "What …?"`."""

import sys
from typing import Any

from anthropic import Anthropic

from blackbird.doors import adapters


def main(question: str) -> None:
    """Ask, answer what the model calls, and print its last words."""
    client = Anthropic()
    said: list[Any] = [{"role": "user", "content": question}]
    tools: Any = adapters.tools("anthropic")
    with adapters.memory() as memory:
        while True:
            message = client.messages.create(model="claude-sonnet-4-6", max_tokens=1024, messages=said, tools=tools)
            said.append({"role": "assistant", "content": message.content})
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                break
            answers = [(call.id, memory.call(call.name, call.input)) for call in calls]
            results = [
                {"type": "tool_result", "tool_use_id": number, "content": answer.text, "is_error": answer.is_error}
                for number, answer in answers
            ]
            said.append({"role": "user", "content": results})
    print("".join(block.text for block in message.content if block.type == "text"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('ask one question: python memory_anthropic.py "What …?"')
    main(sys.argv[1])
