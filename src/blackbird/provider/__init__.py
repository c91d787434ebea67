"""A scripted model provider: five dialects, any fault, any pace, offline.

`server` listens and keeps what it received; `connection` serves one client; `wire` reads requests and `sending`
writes answers; `routes` decides what is answered and `manner` how; `encoding` and `pace` are what they say; `script`
is the job that the model plays, `tools` how it uses the tools that a client offers, `dialects` the words for it,
`websocket` the way in which some clients say them.
"""

from blackbird.provider.manner import Fault, Framing, Manner
from blackbird.provider.server import Provider
from blackbird.provider.wire import Received

__all__ = ["Fault", "Framing", "Manner", "Provider", "Received"]
