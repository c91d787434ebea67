"""A writer for harnesses: typed events in, an append-only log out that reads back equal.

    with Writer.create("session.bbox", id="sess_1", repo_sha="abc1234", model="sonnet-4") as log:
        log.user("Fix the login bug")
        log.tool("read", "src/auth.rs", result=lines(186))

writer      `Writer`: create, reopen, close
subagent    everything one agent can log, and a sub-agent's log within its parent's
talk        messages, thoughts, todos, questions, modes, phases
calls       tools, MCP methods, skills, plans, recalls
marks       the `@` primitives
notes       comments and figures
base        what those methods share
results     one constructor a kind of result, and its spelling
recording   an open session: clock, steps, lock, rotation
tally       the counters behind ids and the closing line
parts       the files of a session: rotated, reopened
sink        the only I/O: one entry, one write
render      an event as lines
remarks     the spelling of comments
todos       the spelling of todo lists
header      the spelling of the header
spelling    escapes, words, quotes, lists
scalars     numbers, money, times, names
"""

from blackbox.write.notes import metrics_of
from blackbox.write.render import render_event
from blackbox.write.sink import Durability
from blackbox.write.subagent import SubagentLog
from blackbox.write.writer import Writer

__all__ = ["Durability", "SubagentLog", "Writer", "metrics_of", "render_event"]
