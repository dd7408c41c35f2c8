"""The guard in front of the page: only the page itself, in a browser of this machine, may ask it.

Dagster's server has no login, runs GraphQL mutations that come by plain GET, and takes any Host
and Origin: any page the user visits could start runs or read their logs through it. `judge` is
pure and decides by the request line and headers alone; `Guard` applies it before anything is read,
and adds headers that keep other pages from framing or embedding this one. It sets no cookie.

What runs on this machine outside of a browser (curl, a script) sends neither Origin nor
Sec-Fetch-Site and is let through: it could claim any Origin, so refusing it would keep nobody out.
One door is closed to it too: the form by which money is allowed comes from a browser that says
from which page. What the form says is checked behind the guard.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kb_serve.output import visible

GRAPHQL = "/graphql"
# GraphQL's largest honest requests name every partition of a backfill: tens of kilobytes.
MAX_BODY_BYTES = 2_000_000
MAX_FORM_BYTES = 4_096

# Doors of Dagster's server that this knowledge base has no use for.
_CLOSED = ("/report_asset", "/notebook", "/dagit")
_FORMS = re.compile(r"/board/spend/[0-9a-f]{32}")
_FORM_TYPE = "application/x-www-form-urlencoded"
_OWN_SITE = ("same-origin", "none")
_POLICY = "content-security-policy"
_LOGGED_CHARACTERS = 80
_LOG = logging.getLogger("kb.page")


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    why: str


@dataclass(frozen=True)
class Asked:
    """What decides about a request: everything but its body."""

    method: str  # "WEBSOCKET" for an upgrade
    path: str  # decoded, as the application routes it
    query: str
    headers: Sequence[tuple[str, str]]  # names in lower case

    @classmethod
    def of(cls, scope: Scope) -> "Asked":
        """Read an ASGI scope."""
        method = scope["method"] if scope["type"] == "http" else "WEBSOCKET"
        query = scope.get("query_string", b"").decode("latin-1")
        return cls(method, scope["path"], query, Headers(scope=scope).items())

    def all(self, name: str) -> list[str]:
        """Return every value of a header, in the order sent."""
        return [value for key, value in self.headers if key == name]

    @property
    def is_form(self) -> bool:
        """Tell whether this goes to a page that takes a form."""
        return bool(_FORMS.fullmatch(self.path))

    @property
    def most_bytes(self) -> int:
        """Return how large its body may be."""
        return MAX_FORM_BYTES if self.is_form else MAX_BODY_BYTES

    @property
    def own_origin(self) -> str:
        """Return the only origin that a request with this Host may come from."""
        return f"http://{''.join(self.all('host'))}"


def own_hosts(port: int) -> frozenset[str]:
    """Return the Host headers under which the page answers.

    >>> sorted(own_hosts(3000))
    ['127.0.0.1:3000', '[::1]:3000', 'localhost:3000']
    """
    names = ("127.0.0.1", "localhost", "[::1]")
    bare = names if port == 80 else ()  # browsers leave the default port out
    return frozenset([*bare, *(f"{name}:{port}" for name in names)])


def judge(asked: Asked, hosts: frozenset[str]) -> Refusal | None:
    """Return why a request is refused, or None. Every rule stands alone; the first one speaks."""
    return (
        _judge_target(asked, hosts)
        or _judge_origin(asked)
        or _judge_method(asked)
        or _judge_body(asked)
        or _judge_form(asked)
    )


def _judge_target(asked: Asked, hosts: frozenset[str]) -> Refusal | None:
    if not asked.path.startswith("/") or asked.path.startswith("//"):
        return Refusal(400, "The request names no path of this page.")
    given = asked.all("host")
    if len(given) != 1 or given[0] not in hosts:  # else a foreign name could point here
        return Refusal(403, "This page answers under its own address on this machine alone.")
    if asked.path.startswith(_CLOSED):
        return Refusal(403, "This door of the server is closed: nothing here uses it.")
    return None


def _judge_origin(asked: Asked) -> Refusal | None:
    origins, sites = asked.all("origin"), asked.all("sec-fetch-site")
    if len(sites) > 1 or any(origin != asked.own_origin for origin in origins):
        return Refusal(403, "Only this page itself may ask; the request comes from another one.")
    if asked.method == "WEBSOCKET" and not origins:
        return Refusal(403, "A socket is opened by this page alone, which names its origin.")
    if sites and sites[0] not in _OWN_SITE and not _is_followed_link(asked):
        return Refusal(403, "Only this page itself may ask; the request comes from another one.")
    return None


def _is_followed_link(asked: Asked) -> bool:
    """Tell whether a user follows a link from elsewhere: the answer is shown to them alone."""
    mode, target = asked.all("sec-fetch-mode"), asked.all("sec-fetch-dest")
    return asked.method == "GET" and mode == ["navigate"] and target == ["document"]


def _judge_method(asked: Asked) -> Refusal | None:
    is_graphql = asked.path == GRAPHQL
    if asked.method == "WEBSOCKET":
        return None if is_graphql else Refusal(403, "There is no socket here.")
    if asked.method in ("GET", "HEAD"):
        named = {name.lower() for name, _ in parse_qsl(asked.query, keep_blank_values=True)}
        if is_graphql or "query" in named:
            return Refusal(405, "GraphQL is asked by POST alone: any page can make a browser GET.")
        return None
    if asked.method != "POST" or not (is_graphql or asked.is_form):
        return Refusal(405, "This page is read by GET, and asked by POST to /graphql.")
    return None


def _judge_body(asked: Asked) -> Refusal | None:
    lengths, is_chunked = asked.all("content-length"), bool(asked.all("transfer-encoding"))
    if asked.method != "POST":
        has_body = is_chunked or any(length != "0" for length in lengths)
        return Refusal(400, "Only a POST has a body.") if has_body else None
    # A form of another page can send other types, but not JSON without asking first.
    kind = _FORM_TYPE if asked.is_form else "application/json"
    if asked.all("content-type") != [kind]:
        return Refusal(415, f"The one content type taken here is {kind}.")
    if any(not length.isdecimal() or int(length) > asked.most_bytes for length in lengths):
        return _too_large(asked)
    return None


def _judge_form(asked: Asked) -> Refusal | None:
    """Refuse more of what comes to a form's page: any page can make a browser send a form."""
    if not asked.is_form:
        return None
    if asked.query:
        return Refusal(400, "This page takes nothing from its address.")
    if asked.method != "POST":
        return None
    is_own = asked.all("origin") == [asked.own_origin]
    if not is_own or asked.all("sec-fetch-site") not in ([], ["same-origin"]):
        return Refusal(403, "A form is sent by this page alone, which names its origin.")
    if len(asked.all("content-length")) != 1 or asked.all("transfer-encoding"):
        return Refusal(411, "A form says how long it is.")
    return None


def _too_large(asked: Asked) -> Refusal:
    return Refusal(413, f"More than {asked.most_bytes:,} bytes are not taken here.")


def _hardening(port: int) -> dict[str, str]:
    """Return what every answer says: show me nowhere else, and load nothing from elsewhere.

    The last keeps the offline promise for the browser too: a picture in metadata calls nobody.
    """
    sockets = " ".join(f"ws://{host}" for host in sorted(own_hosts(port)) if "[" not in host)
    return {
        _POLICY: f"frame-ancestors 'none'; form-action 'self'; connect-src 'self' {sockets}; "
        "img-src 'self' data: blob:; font-src 'self' data:; media-src 'none'; frame-src 'none'",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }


class Guard:
    """An ASGI application that asks `judge` before the one behind it."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = own_hosts(port)
        self._headers = _hardening(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked = Asked.of(scope)
        refusal = judge(asked, self._hosts)
        body = None
        if refusal is None and asked.method == "POST":
            body = await _read(receive, asked.most_bytes)
            refusal = _too_large(asked) if body is None else None
        if refusal:
            _log(asked, refusal)
            await self._refuse(scope, refusal, send)
            return
        await self._app(scope, _replaying(body, receive), self._hardened(send))

    def _hardened(self, send: Send) -> Send:
        """Add headers that keep other pages away, and take out what would let them in."""

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in [key for key in headers if key.startswith("access-control-")]:
                    del headers[name]
                del headers["set-cookie"]
                # Beside the application's own policy, not instead of it: browsers obey both.
                headers.append("content-security-policy", self._headers[_POLICY])
                headers.update({k: v for k, v in self._headers.items() if k != _POLICY})
            await send(message)

        return send_on

    async def _refuse(self, scope: Scope, refusal: Refusal, send: Send) -> None:
        kind = "http.response"
        if scope["type"] == "websocket":
            kind = "websocket.http.response"
            if kind not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": 1008})
                return
        text = f"{refusal.why}\n".encode()
        headers = MutableHeaders(
            {"content-type": "text/plain; charset=utf-8", "content-length": str(len(text))}
        )
        headers.update(self._headers)
        start = {"type": f"{kind}.start", "status": refusal.status, "headers": headers.raw}
        await send(start)
        await send({"type": f"{kind}.body", "body": text})


async def _read(receive: Receive, most: int) -> bytes | None:
    """Return the whole body; None as soon as it is larger than what is taken."""
    body = b""
    while len(body) <= most:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body if len(body) <= most else None
    return None


def _replaying(body: bytes | None, receive: Receive) -> Receive:
    """Hand on a body that was read already; then whatever comes."""
    held = [] if body is None else [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return held.pop() if held else await receive()

    return next_message


def _log(asked: Asked, refusal: Refusal) -> None:
    """Note what was refused: never the query, which could quote a note."""
    path = visible(asked.path)[:_LOGGED_CHARACTERS]
    _LOG.warning("Refused %s %s: %s", asked.method[:20], path, refusal.why)
