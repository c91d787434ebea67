"""The repair by a program that uses claude-agent-sdk."""

import asyncio
import sys

from claude_agent_sdk import (  # type: ignore[import-not-found] # not of this environment
    ClaudeAgentOptions,
    ResultMessage,
    query,
)


async def repair(prompt: str) -> None:
    """Ask, and say what comes of it."""
    options = ClaudeAgentOptions(allowed_tools=["Read", "Edit", "Bash"], permission_mode="acceptEdits")
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            sys.stdout.write(f"{message.result}\n")


asyncio.run(repair(sys.argv[1]))
