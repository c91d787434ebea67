"""Mending a log: each fixer returns edits, and the edits are applied or only shown.

edits     an edit, and how edits are applied to a document
fixers    what can be mended: steps, ends, arrows, call ids, line ends
"""
