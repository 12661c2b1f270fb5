"""Who may talk to a studio: the page that was opened by the address with its token, and nobody else.

Any web page that is open in the same browser can send requests to this computer, and read what a WebSocket answers. The
browser says with each request which page sent it (`Origin`) and to which name (`Host`). Somebody else's name that its
owner points at this computer (DNS rebinding) is none of ours. Other users of the computer can send whatever they like,
but do not know the token.
"""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

TOKEN_BYTES = 24
ANYWHERE = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",  # the token is in the address
    "X-Content-Type-Options": "nosniff",
}
UNKNOWN = (
    "This is a studio of kalaba. It opens by the whole address that was printed when it was started; a token ends it.\n"
    "Copy that address from the terminal or the notebook; in Python it is page.address.\n"
)
FOREIGN_HOST = (
    "This studio is not served under that name.\n"
    "Open it by the address that was printed when it was started; through a tunnel, by localhost.\n"
)
FOREIGN_ORIGIN = "This studio obeys its own page only; another page asked.\n"

Answer = Callable[[Any, Any], Any]  # of a connection and its request: a response, or None for a WebSocket
_starting = threading.Lock()


@dataclass
class Guard:
    """What every request to a studio passes.

    Arguments:
        host: the address that is served
        token: what the path of every request begins with
    """

    host: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    stands: bool = False  # whether a server passes its requests on to it
    _tickets: set[str] = field(default_factory=set)

    def address(self, port: int) -> str:
        """The address that opens the page."""
        return f"{self._origin(port)}/{self.token}/"

    def address_for_once(self, port: int) -> str:
        """An address that leads to the page once: other users of the computer see what a browser is started with."""
        ticket = secrets.token_urlsafe(TOKEN_BYTES)
        self._tickets.add(ticket)
        return f"{self._origin(port)}/{ticket}/"

    def _origin(self, port: int) -> str:
        return f"http://[{self.host}]:{port}" if ":" in self.host else f"http://{self.host}:{port}"

    def around(self, answer: Answer) -> Answer:
        """What answers requests, with the guard before it: a refusal, or the answer to the path behind the token."""

        def guarded(connection: Any, request: Any) -> Any:
            path, _, query = request.path.partition("?")
            _, first, *rest = path.split("/", 2) if path.startswith("/") else ("", "")
            refusal = self.refusal(request.headers, first)
            if refusal:
                response = connection.respond(HTTPStatus.FORBIDDEN, refusal)
            elif first in self._tickets:
                self._tickets.discard(first)
                response = connection.respond(HTTPStatus.SEE_OTHER, "")
                response.headers["Location"] = f"/{self.token}/"
            else:
                inner = f"/{''.join(rest)}?{query}"
                response = answer(connection, type(request)(path=inner, headers=request.headers))
            if response is not None:
                response.headers.update(ANYWHERE)
            return response

        return guarded

    def refusal(self, headers: Any, token: str) -> str:
        """Why a request is refused, in words for who sent it; nothing if it is not."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or not is_own_name(hosts[0], self.host):
            return FOREIGN_HOST
        is_page = not origins and "Upgrade" not in headers  # a browser names the page behind each WebSocket
        if not is_page and [origin.lower() for origin in origins] != [f"http://{hosts[0].lower()}"]:
            return FOREIGN_ORIGIN
        known = [
            secrets.compare_digest(token.encode(errors="replace"), one.encode()) for one in (self.token, *self._tickets)
        ]
        return "" if any(known) else UNKNOWN


def is_own_name(authority: str, served: str) -> bool:
    """Whether a request to `name:port` means this computer, and not a name that somebody else points at it.

    Ports are not compared: a tunnel has one of its own.
    """
    try:
        parts = urlsplit(f"//{authority}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if name is None or parts.netloc != authority or "@" in authority:
        return False
    if is_loopback(served) or is_loopback(name):
        return is_loopback(name)
    own = socket.gethostname().lower()
    return _is_number(name) or name in {served.lower(), own, f"{own}.local"}


def is_loopback(host: str) -> bool:
    """Whether an address reaches this computer alone."""
    return host == "localhost" or (_is_number(host) and ipaddress.ip_address(host).is_loopback)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@contextlib.contextmanager
def guarding(guard: Guard) -> Iterator[None]:
    """Within this block a server that viser starts passes every request on to the guard.

    viser has no place for it, but `websockets`, which it serves by, has one that comes before all else.
    """
    import websockets.asyncio.server

    sockets: Any = websockets.asyncio.server
    serve = sockets.serve

    def guarded(handler: Any, *places: Any, process_request: Answer | None = None, **options: Any) -> Any:
        if process_request is None or not handler.__module__.startswith("viser."):
            return serve(handler, *places, process_request=process_request, **options)
        guard.stands = True
        return serve(handler, *places, process_request=guard.around(process_request), **options)

    with _starting:
        sockets.serve = guarded
        try:
            yield
        finally:
            sockets.serve = serve
