"""What a log keeps outside itself, and what everything passes on its way to the disk.

guard       hides secrets, moves long results to the store; what `write` asks before it writes
media       the media type of a result
store       `.bbox-blobs/`: content under its hash, written once, verified when read; the only I/O here
references  which blobs a text mentions
survey      what the logs around a store say of its blobs: the ground for listing and clearing
presence    what became of the blobs that a log names
"""
