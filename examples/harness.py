"""A harness of three tasks: each of them starts with what the ones before it came to.

    ANTHROPIC_API_KEY=… python examples/harness.py

The agent here is one request to a model. A real one is a child process, started with `os.environ | task.environment`:
its requests go through the recorder, and are known to be those of this run. Afterwards `blackbird task` shows the
plan, `blackbird show harbour` what was said, and `blackbird artifacts harbour` what is remembered of it.
"""

import json
import os
import sys
import urllib.error
import urllib.request

from blackbird.harness import Harness, Task
from blackbox.errors import BlackboxError

MODEL = os.environ.get("MODEL", "claude-haiku-4-5")
PLAN = (
    "Choose how the harbour's lamps are stored. Decide between SQLite and plain files, and say why.",
    "Write down which rules the code of the lamps must keep.",
    "List what is still open before the lamps can burn.",
)


def ask(task: Task, words: str) -> str:
    """One request in the name of a task, with its pack before the words."""
    body = {
        "model": MODEL,
        "max_tokens": 1024,
        "system": task.pack.text,
        "messages": [{"role": "user", "content": words}],
    }
    request = urllib.request.Request(
        task.environment["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps(body).encode(),
        {
            "content-type": "application/json",
            "anthropic-version": "2023-06-01",
            "x-api-key": os.environ["ANTHROPIC_API_KEY"],
        },
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        content = json.load(answer)["content"]
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def main() -> int:
    """Run the plan; how many tasks failed."""
    failed = 0
    with Harness.open("harbour", goal="the lamps of the harbour burn again") as session:
        for words in PLAN:
            with session.start_task(words) as task:
                print(f"── {task.id}, with a pack of {task.pack.tokens} tokens")
                try:
                    answer = ask(task, words)
                except urllib.error.URLError as error:
                    failed += 1
                    task.record_outcome("fail", str(error))
                    print(error)
                    continue
                task.record_outcome("success", answer)
                print(answer)
        done = sum(task.state == "done" for task in session.plan())
        session.checkpoint(f"{done} of {len(PLAN)} tasks are done.")
    return failed


if __name__ == "__main__":
    if "ANTHROPIC_API_KEY" not in os.environ:
        sys.exit("set ANTHROPIC_API_KEY to a key of the provider")
    try:
        sys.exit(main())
    except BlackboxError as error:
        sys.exit(f"{error.message}: {error.remedy}")
