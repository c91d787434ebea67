"""A model of Chat Completions that uses the memory: `python memory_openai_chat.py "What …?"`."""

import sys
from typing import Any

from openai import OpenAI

from blackbird.doors import adapters


def main(question: str) -> None:
    """Ask, answer what the model calls, and print its last words."""
    client = OpenAI()
    said: list[Any] = [{"role": "user", "content": question}]
    tools: Any = adapters.tools("openai-chat")
    with adapters.memory() as memory:
        while True:
            message = client.chat.completions.create(model="gpt-5.4", messages=said, tools=tools).choices[0].message
            said.append(message)
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                if call.type == "function":
                    answer = memory.call(call.function.name, call.function.arguments)
                    said.append({"role": "tool", "tool_call_id": call.id, "content": answer.text})
    print(message.content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('ask one question: python memory_openai_chat.py "What …?"')
    main(sys.argv[1])
