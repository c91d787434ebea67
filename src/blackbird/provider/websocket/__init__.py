"""The provider's WebSockets, for clients that ask so.

`frames` spells and reads frames, `packing` compresses messages, `talk` is one connection from upgrade to close.
"""
