"""The doors through which agents reach the memory: MCP over stdio and HTTP, and tools for the APIs of providers.

`schema` has the tools once, as data, and `dispatch` runs a call of one; `scope` says whose call it is, `budget`
counts it, `answers` puts what was found into words and values, and `bounds` keeps both short. `opening` has the
memory behind a door. `protocol` says what MCP answers and `stdio` speaks it over two streams without the SDK; `http`
serves the same by the SDK, for those who have the token (`token`); `adapters` spells the tools for providers' APIs.
"""
