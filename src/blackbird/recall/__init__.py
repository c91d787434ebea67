"""The read path: whoever asks the memory, by whichever door, asks here.

model      what is answered: one artifact whole, and pieces of evidence
whose      whose a question is: session, task and run of the process that asks
egress     secrets out, once more
bounds     long artifacts, cut to what an agent can read in one go
freshness  whether the memory is behind the trace, found out without reading either
pieces     from an artifact to the very bytes, and whether they are what was written
reading    `Recall` itself
view       answers as objects for programs, the same by every door
"""

from blackbird.recall.model import Cut, Piece, RecordAt, Whole
from blackbird.recall.reading import Recall
from blackbird.recall.whose import Whose

__all__ = ["Cut", "Piece", "Recall", "RecordAt", "Whole", "Whose"]
