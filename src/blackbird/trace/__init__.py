"""Reads the trace as docs/formats/wal-1.md has it, on its own: nothing here is shared with the recorder.

errors      the one exception
ids         ULIDs, as bytes and as text
header      the header of a segment
records     records, their types and flags
scan        a segment from end to end: records, corruption, a torn tail
resync      the next intact record behind damage
chain       the root of a segment
seal        sealed segments
segment     a segment, sealed or not
synced      how far the trace is on the disk
tombstones  what is left of a removed segment
folder      the only module that touches the disk; it never writes
verify      what is wrong with a trace, as values
"""
