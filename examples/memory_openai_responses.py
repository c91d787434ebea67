"""A model of the Responses API that uses the memory: `python memory_openai_responses.py "What …?"`."""

import sys
from typing import Any

from openai import OpenAI

from blackbird.doors import adapters


def main(question: str) -> None:
    """Ask, answer what the model calls, and print its last words."""
    client = OpenAI()
    said: list[Any] = [{"role": "user", "content": question}]
    tools: Any = adapters.tools("openai-responses")
    with adapters.memory() as memory:
        while True:
            response = client.responses.create(model="gpt-5.4", input=said, tools=tools)
            said += response.output
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            for call in calls:
                answer = memory.call(call.name, call.arguments)
                said.append({"type": "function_call_output", "call_id": call.call_id, "output": answer.text})
    print(response.output_text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('ask one question: python memory_openai_responses.py "What …?"')
    main(sys.argv[1])
