"""A session on top of its lines: who called what, what came back, how long it took and what it cost.

session    the view: one object that answers all questions below
load       the only module here that opens files: a log with its rotated parts and its sub-agents' logs
lines      the entries of all parts in one order, and what single ones leave: checkpoints, notes, blobs …
matching   which call a line belongs to; the streaming part, shared with `check`
ledger     lines joined into calls and questions
calls      a call: start, progress, attempts, outcome
questions  a question: options, answers, whether a human confirmed
subagents  sub-agents with their own calls and logs; operations nested by span
effects    what calls come to: plans and recalls, files touched, failures
timeline   elapsed and wall-clock time, pauses; modes, phases and models, and where each is in force
usage      steps with their metrics, tokens and cost with the source of each total, the budget
"""
