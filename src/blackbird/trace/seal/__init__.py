"""Sealed segments: the same records, grouped by request and compressed, with an index.

index    the footer and the index: what lies where
columns  the numbers of a group's records
reader   groups, records and the root
"""
