"""A model of the Gemini API that uses the memory: `python memory_gemini.py "What …?"`."""

import sys
from typing import Any

from google import genai

from blackbird.doors import adapters


def main(question: str) -> None:
    """Ask, answer what the model calls, and print its last words."""
    client = genai.Client()
    said: list[Any] = [{"role": "user", "parts": [{"text": question}]}]
    config: Any = {"tools": adapters.tools("gemini")}
    with adapters.memory() as memory:
        while True:
            response = client.models.generate_content(model="gemini-3-flash", contents=said, config=config)
            said.append(response.candidates[0].content if response.candidates else None)
            if not response.function_calls:
                break
            answers = [(call.name, memory.call(call.name or "", call.args)) for call in response.function_calls]
            parts = [
                {"function_response": {"name": name, "response": {"output": answer.text}}} for name, answer in answers
            ]
            said.append({"role": "user", "parts": parts})
    print(response.text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('ask one question: python memory_gemini.py "What …?"')
    main(sys.argv[1])
