"""A writer for harnesses: typed events in, an append-only log out that reads back equal.

    with Writer.create("session.bbox", id="sess_1", repo_sha="abc1234", model="sonnet-4") as log:
        log.user("Fix the login bug")
        log.tool("read", "src/auth.rs", result=results.lines(186))

Secrets are hidden and long results moved beside the log by `vault.guard`, which every entry passes.

writer      `Writer`: create, reopen, close; a sub-agent's log within its parent's
turns       what is said and done: messages, questions, modes; tools, MCP methods, skills, plans, recalls
marks       the `@` primitives, comments and figures
recording   an open session: clock, steps, lock, rotation, and the agents that add to it
tally       the counters behind ids and the closing line
sink        where entries go: files, rotated into parts, or a stream; one entry, one write
header      the header of a new log as YAML
render      an event as lines, comments included
results     one constructor a kind of result, and its spelling
spelling    escapes, words, quotes, lists, todos
scalars     numbers, money, times, names, arguments, metadata
"""

from blackbox.write import results
from blackbox.write.marks import metrics_of
from blackbox.write.render import render_event
from blackbox.write.sink import Durability
from blackbox.write.writer import SubagentLog, Writer

__all__ = ["Durability", "SubagentLog", "Writer", "metrics_of", "render_event", "results"]
