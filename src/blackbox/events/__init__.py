"""What a line says, as typed values: one struct per kind of event, built from the parts of a line.

messages    user, agent, thinking, todos
calls       tools, observations, skills, plans, recalls, sub-agents, MCP calls, questions, modes
lifecycle   the `@` primitives
comments    the `#` lines that carry data: metrics, budget, time, model, notes, context management
tools       what tools do, told by their names
build       from a line's parts to its event
"""

from blackbox.events.build import Event, build_event

__all__ = ["Event", "build_event"]
