"""The grammar: pure functions from text to its parts. Knows nothing of files, sessions or rules.

kinds      the kinds of line, decided by the first characters
tokens     arrows, words, quotes and lists of a call part
metadata   the keys any line may carry, and where they are read from
quick      shortcuts for plain lines that agree with the full parser
parts      one physical line taken apart, with columns
results    what stands behind an arrow
header     the YAML block at the top
values     money, durations, timestamps, attempts
escape     the one escape rule
"""
