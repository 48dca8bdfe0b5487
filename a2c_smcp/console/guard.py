"""Who may use the console: the browser that has the one-time address, on this machine, from the console's own page."""

import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.datastructures import URL, Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from a2c_smcp.addresses import LOOPBACK
from a2c_smcp.errors import Forbidden, SMCPError, Unauthorized, to_wire

COOKIE: Final = "a2c_console"
MAX_SESSIONS: Final = 32

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

_CLOSED: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A2C console</title>
<link rel="icon" href="/static/shared/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/shared/console.css">
<main class="closed">
<h1>This console is closed</h1>
<p>Open it with the address that the command printed: it works once, in one browser. Run the command again for a new
one.</p>
<h1 lang="zh">控制台未打开</h1>
<p lang="zh">请使用命令行打印的地址打开：该地址只能使用一次。重新运行命令可获得新地址。</p>
</main>
</html>"""

_OPENED: Final = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url=/">
<title>A2C console</title>
<link rel="icon" href="/static/shared/icon.svg" type="image/svg+xml">
<a href="/">A2C console</a>"""

Send = Callable[[Any], Awaitable[None]]


class Guard:
    """An ASGI application around another: it lets nobody else in.

    Args:
        hosts: Names, beside those of loopback, under which the console may be asked.
    """

    def __init__(self, app: Any, *, hosts: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._hosts = LOOPBACK | hosts
        self._token: str | None = secrets.token_urlsafe(24)
        self._sessions: list[str] = []

    def url(self, base: str) -> str:
        """Return an address that opens the console once; earlier ones that were not used open it no more."""
        self._token = secrets.token_urlsafe(24)
        return f"{base}/?token={self._token}"

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        """Answer, or let the application answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            answer = self._checked(request)
        except SMCPError as error:
            answer = _refused(request, error)
        if answer is not None:
            answer.headers.update(HEADERS)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, _with_headers(send, request.url))

    def _checked(self, request: Request) -> Response | None:
        host = request.headers.get("host", "")
        if host.rpartition(":")[0] not in self._hosts and host not in self._hosts:
            raise Forbidden("The console does not answer to this name")
        if request.url.path.startswith("/static/"):
            return None
        _check_origin(request.headers, host, page=request.url.path == "/" and request.method in ("GET", "HEAD"))
        known = self._knows(request.cookies.get(_cookie(request), ""))
        if request.url.path == "/" and request.method == "GET" and "token" in request.query_params:
            # Who is in already, and opens an old address from the history, is not sent away.
            return RedirectResponse("/", status_code=303) if known else self._opened(request)
        if not known:
            raise Unauthorized("Open the console with the address that the command printed")
        return None

    def _knows(self, session: str) -> bool:
        offered = session.encode()
        return any(hmac.compare_digest(offered, known.encode()) for known in self._sessions)

    def _opened(self, request: Request) -> Response:
        token = request.query_params["token"]
        if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
            raise Unauthorized("This address was used already, or is not of this console")
        self._token = None
        session = secrets.token_urlsafe(32)
        self._sessions = [*self._sessions, session][-MAX_SESSIONS:]
        # Not a redirect: after a link on another site, the browser would not send the strict cookie along.
        answer = HTMLResponse(_OPENED)
        answer.set_cookie(_cookie(request), session, httponly=True, samesite="strict", path="/")
        return answer


def _cookie(request: Request) -> str:
    """Cookies know no ports, and one machine may have several consoles."""
    return f"{COOKIE}_{request.url.port or 80}"


def _check_origin(headers: Headers, host: str, *, page: bool) -> None:
    """Refuse what another page sends. The console's own page may be linked to from anywhere."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    foreign = origin is not None and origin not in (f"http://{host}", f"https://{host}")
    if foreign or (not page and site not in ("none", "same-origin")):
        raise Forbidden("Pages of another origin may not use the console")


def _refused(request: Request, error: SMCPError) -> Response:
    status = 401 if isinstance(error, Unauthorized) else 403
    if "text/html" in request.headers.get("accept", "") and request.method == "GET":
        return HTMLResponse(_CLOSED, status_code=status)
    return JSONResponse(to_wire(error), status_code=status)


def _with_headers(send: Send, url: URL) -> Send:
    cache = b"no-cache" if url.path.startswith("/static/") else b"no-store"

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            given = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            known = {name.lower() for name, _ in message.get("headers", ())}
            extra = [] if b"cache-control" in known else [(b"cache-control", cache)]
            message = {**message, "headers": [*message.get("headers", ()), *given, *extra]}
        await send(message)

    return sending
