"""Who may use the console: pages of its own, in the browser that opened its one-time address, on this machine.

    /#token=T            the address that is printed; the fragment stays in the browser
    POST /api/session    exchanges T, sent as a header, for a cookie and a key; T works once
    everything else      needs both: the cookie, and the key as a header

A cookie alone proves nothing: browsers send it to every port of a host, so that any program on this machine that the
owner visits learns it. The key is kept in `sessionStorage`, which belongs to one origin, port included.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from starlette.datastructures import URL, Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from a2c_smcp.common.addresses import LOOPBACK
from a2c_smcp.errors import Forbidden, SMCPError, Unauthorized, to_wire
from a2c_smcp.web.guard import HttpGuard

COOKIE: Final = "a2c_console"
TOKEN_HEADER: Final = "a2c-console-token"  # noqa: S105 - its name
KEY_HEADER: Final = "a2c-console-key"
OPEN: Final = "/api/session"
MAX_SESSIONS: Final = 32
IDLE_SECONDS: Final = 12 * 3600.0
"""A session without a request or an open page ends after this time, and so does an address that nobody opened."""
MAX_SECONDS: Final = 7 * 24 * 3600.0
"""The longest that a session lasts."""

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
<p>Open it with the address that the command printed: it works once, in one browser. Press Enter where
<code>a2c up</code> runs for a new one.</p>
<h1 lang="zh">控制台未打开</h1>
<p lang="zh">请使用命令行打印的地址打开：该地址只能使用一次。在运行 <code>a2c up</code> 的终端里按回车可获得新地址。</p>
</main>
</html>"""

Send = Callable[[Any], Awaitable[None]]
Clock = Callable[[], float]


class ConsoleSession:
    """A browser that opened the console."""

    def __init__(self, now: float) -> None:
        self.cookie, self.key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._ends, self._used = now + MAX_SECONDS, now
        self._pages = 0
        self._ended = asyncio.Event()

    def lives(self, now: float) -> bool:
        """Whether it may still be used."""
        idle = not self._pages and now > self._used + IDLE_SECONDS
        return not (self._ended.is_set() or idle or now > self._ends)

    def use(self, now: float) -> None:
        """A request came."""
        self._used = now

    def end(self) -> None:
        """End it, and the event stream of its pages."""
        self._ended.set()

    @contextmanager
    def page(self, clock: Clock = time.monotonic) -> Iterator[None]:
        """A page is open for as long as the block runs."""
        self._pages += 1
        try:
            yield
        finally:
            self._pages -= 1
            self._used = clock()

    async def over(self, clock: Clock = time.monotonic) -> None:
        """Wait for the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(self._ends - clock(), 0)):
                await self._ended.wait()


class ConsoleGuard:
    """An ASGI application around another: it lets nobody else in.

    The scope of each request that passes has its `ConsoleSession` as `a2c.session`.

    Args:
        hosts: Names, beside those of loopback, under which the console may be asked.
    """

    def __init__(self, app: Any, *, hosts: frozenset[str] = frozenset(), clock: Clock = time.monotonic) -> None:
        self._app = app
        self._hosts = HttpGuard(hosts=LOOPBACK | hosts)
        self._clock = clock
        self._token: str | None = None
        self._token_ends = 0.0
        self._sessions: list[ConsoleSession] = []

    def url(self, base: str) -> str:
        """Return an address that opens the console once; earlier ones that were not used open it no more."""
        self._token = secrets.token_urlsafe(24)
        self._token_ends = self._clock() + IDLE_SECONDS
        return f"{base}/#token={self._token}"

    def end_all(self) -> None:
        """End every session; an address that nobody opened opens it no more."""
        sessions, self._sessions, self._token = self._sessions, [], None
        for session in sessions:
            session.end()

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
        if not self._hosts.allows_host(host):
            raise Forbidden("Host header not allowed; open the console with the address that the command printed")
        path = request.url.path
        if path.startswith("/static/"):
            return None
        page = path == "/" and request.method in ("GET", "HEAD")
        _check_origin(request.headers, host, page=page)
        if page:
            return None  # an empty frame, the same for everybody
        if path == OPEN and request.method == "POST":
            return self._opened(request)
        session = self._session(request.cookies.get(_cookie(request), ""), request.headers.get(KEY_HEADER, ""))
        if session is None:
            raise Unauthorized("Open the console with the address that the command printed")
        session.use(self._clock())
        request.scope["a2c.session"] = session
        return None

    def _session(self, cookie: str, key: str) -> ConsoleSession | None:
        now = self._clock()
        for ended in [session for session in self._sessions if not session.lives(now)]:
            ended.end()
            self._sessions.remove(ended)
        found = [
            session
            for session in self._sessions
            if _same(cookie, session.cookie) & _same(key, session.key)  # both, in the same time
        ]
        return found[0] if found else None

    def _opened(self, request: Request) -> Response:
        token = request.headers.get(TOKEN_HEADER, "")
        if self._token is None or self._clock() > self._token_ends or not _same(token, self._token):
            raise Unauthorized("This address was used already, has expired, or is not of this console")
        self._token = None
        session = ConsoleSession(self._clock())
        self._sessions.append(session)
        for oldest in self._sessions[:-MAX_SESSIONS]:
            oldest.end()
            self._sessions.remove(oldest)
        answer = JSONResponse({"key": session.key}, headers={"cache-control": "no-store"})
        answer.set_cookie(_cookie(request), session.cookie, httponly=True, samesite="strict", path="/")
        return answer


def _same(offered: str, known: str) -> bool:
    return hmac.compare_digest(offered.encode(), known.encode())


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
