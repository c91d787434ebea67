"""The repair by a program that uses openai-agents."""

import sys

from agents import Agent, Runner, function_tool  # type: ignore[import-not-found] # not of this environment
from toolbox import edit_file, read_file, run_command  # type: ignore[import-not-found] # beside this script

agent = Agent(
    name="fixer",
    instructions="Repair the program.",
    model="gpt-5",
    tools=[function_tool(read_file), function_tool(run_command), function_tool(edit_file)],
)
sys.stdout.write(f"{Runner.run_sync(agent, sys.argv[1]).final_output}\n")
