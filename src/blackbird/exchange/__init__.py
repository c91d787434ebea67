"""Requests and their responses, put together again from the records of the trace.

exchange  what is known of one request: values
payloads  what the JSON of records says, whatever its shape
clock     when a record was written, from the anchors of its segment
messages  the messages of a WebSocket, joined from their pieces
assemble  records to an exchange
catalog   which requests a trace has, and one of them with its bodies
pins      which sessions and runs are kept
summary   how large a trace is, from when to when it goes
listing   records as objects, to be written as lines of JSON
view      an exchange as text for people, and as objects for programs
"""
