"""MCP over HTTP by the official SDK, and the health and figures of the memory beside it. Needs the extra `mcp`."""

import socket
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn
from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from blackbird.doors import schema, scope
from blackbird.doors.answer import UNKNOWN_TOOL
from blackbird.doors.dispatch import Dispatcher
from blackbird.doors.guard import Guard
from blackbird.doors.version import version

PATH, HEALTH, METRICS = "/mcp", "/health", "/metrics"
#: A longer body is no call of these tools.
_LONGEST_BODY = 1 << 20
_GRACE_SECONDS = 3


class Guarded:
    """An application behind a guard. Whether the server is there at all may be asked without the token."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a request, or refuse it."""
        if scope["type"] == "http":
            refusal = self._guard.refuse(Headers(scope=scope), needs_token=scope["path"] != HEALTH)
            if refusal is not None:
                fields = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
                await JSONResponse(refusal.body, refusal.status, fields)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def application(dispatcher: Dispatcher, guard: Guard, figures: Callable[[], str]) -> ASGIApp:
    """All that is served. `figures` are the metrics as Prometheus reads them."""
    server = Server(
        "blackbird",
        title="Blackbird memory",
        version=version(),
        instructions=schema.INSTRUCTIONS,
        on_list_tools=_list,
        on_call_tool=partial(_call, dispatcher),
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,  # nothing is kept of a client, so a server that starts anew is no other to it
        max_request_body_size=_LONGEST_BODY,
        host=guard.host,
        custom_starlette_routes=[
            Route(HEALTH, _health),
            Route(METRICS, partial(_metrics, figures)),
        ],
    )
    return Guarded(app, guard)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 picks a free one. Raises `OSError`."""
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def serve(app: ASGIApp, where: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=_GRACE_SECONDS
    )
    uvicorn.Server(config).run(sockets=[where])


async def _list(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[Tool.model_validate(tool) for tool in schema.listed()])


async def _call(
    dispatcher: Dispatcher, context: ServerRequestContext[Any], params: CallToolRequestParams
) -> CallToolResult:
    meta = dict(context.meta or {}) | _carried(context.request)
    answer = await run_sync(dispatcher.call, params.name, params.arguments, meta)
    if answer.code == UNKNOWN_TOOL:
        raise MCPError(code=INVALID_PARAMS, message=answer.text, data=answer.values)
    return CallToolResult(
        content=[TextContent(text=answer.text)], structured_content=answer.values, is_error=answer.is_error
    )


def _carried(request: object) -> dict[str, str]:
    """The ids that a client was told to send with each request."""
    if not isinstance(request, Request):
        return {}
    return {name: request.headers[name] for name in scope.CARRIERS.values() if name in request.headers}


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _metrics(figures: Callable[[], str], _: Request) -> Response:
    return PlainTextResponse(await run_sync(figures), media_type="text/plain; version=0.0.4; charset=utf-8")
