"""A studio obeys its own page only: real sockets, with what browsers, other pages and other users send."""

import asyncio
import contextlib
import itertools
import socket
from urllib.parse import urlsplit

import pytest
import viser
import websockets.asyncio.server
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

import kalaba as kb
from kalaba.errors import ViewError
from kalaba.view.studio import guard as guards
from kalaba.view.studio import serving
from kalaba.view.studio.guard import Guard, is_own_name

SPOKEN = Subprotocol(f"viser-v{viser.__version__}")
PATIENCE = 20.0  # s


@pytest.fixture(scope="module")
def page():
    opened = kb.studio(kb.load("four-bar"), port=0, duration=0.1)
    assert opened.wait(120)
    yield opened
    opened.close()


def place(page):
    """Host and port as a browser writes them, and the token."""
    parts = urlsplit(page.address)
    return parts.netloc, parts.path.strip("/")


def asked(page, path, *headers):
    """Status and whole answer of a request with exactly these headers."""
    with socket.create_connection(("127.0.0.1", page.server.get_port()), timeout=PATIENCE) as wire:
        wire.sendall("\r\n".join([f"GET {path} HTTP/1.1", *headers, "", ""]).encode("latin-1"))
        answer = b"".join(iter(lambda: wire.recv(1 << 16), b""))
    return int(answer.split(None, 2)[1]), answer


def opened_socket(page, path, origin, host=None):
    """A WebSocket of the studio, as viser's page opens it."""
    netloc, _ = place(page)
    port = page.server.get_port()
    wire = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    return connect(f"ws://{host or netloc}{path}", sock=wire, origin=origin, subprotocols=[SPOKEN], max_size=None)


def test_the_page_and_its_socket_open_by_the_printed_address(page):
    netloc, token = place(page)
    assert len(token) >= 32
    status, answer = asked(page, f"/{token}/", f"Host: {netloc}")
    assert status == 200
    assert b"<html" in answer
    assert b"Referrer-Policy: no-referrer" in answer
    with opened_socket(page, f"/{token}", f"http://{netloc}") as wire:
        assert len(wire.recv(timeout=PATIENCE)) > 0
    status, _ = asked(
        page, f"/{token}/?websocket=ws://{netloc}/{token}", f"Host: {netloc}"
    )  # as the page renames itself
    assert status == 200


@pytest.mark.parametrize(
    "path", ["/", "/wrong/", "/favicon.ico", "//", "/TOKEN", "/?token=TOKEN", "/x/../TOKEN/", "/\xff/"]
)
def test_without_the_token_there_is_a_plain_page_that_says_what_to_do(page, path):
    netloc, token = place(page)
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    status, answer = asked(page, path.replace("TOKEN", wrong if path == "/TOKEN" else token), f"Host: {netloc}")
    assert status == 403
    assert b"the whole address that was printed" in answer
    assert token.encode() not in answer


@pytest.mark.parametrize("path", ["", "/", "/wrong", "/?token=TOKEN"])
def test_a_socket_without_the_token_is_refused_before_anything_is_sent(page, path):
    netloc, token = place(page)
    with pytest.raises(InvalidStatus) as refused:
        opened_socket(page, path.replace("TOKEN", token), f"http://{netloc}")
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "https://evil.example",
        "http://localhost:3000",
        "http://127.0.0.1",
        "https://HOST",
        "http://HOST.evil",
    ],
)
def test_a_socket_of_another_page_is_refused_with_the_right_token(page, origin):
    netloc, token = place(page)
    with pytest.raises(InvalidStatus) as refused:
        opened_socket(page, f"/{token}", origin and origin.replace("HOST", netloc))
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "name", ["evil.example", "127.0.0.1.evil.example", "192.168.1.4", "localhost.", "x@127.0.0.1", "[::1"]
)
def test_a_name_that_others_point_here_is_refused_with_the_right_token(page, name):
    _, token = place(page)
    host = f"{name}:{page.server.get_port()}"
    for headers in itertools.product([f"Host: {host}"], ["", f"Origin: http://{host}"]):
        status, answer = asked(page, f"/{token}/", *filter(None, headers))
        assert status == 403
        assert b"not served under that name" in answer
        assert b"<html" not in answer
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    assert asked(page, f"/{token}", f"Host: {host}", f"Origin: http://{host}", *upgrade, key)[0] == 403


def test_a_page_of_another_origin_cannot_read_it_either(page):
    netloc, token = place(page)
    assert asked(page, f"/{token}/", f"Host: {netloc}", "Origin: https://evil.example")[0] == 403
    assert asked(page, f"/{token}/")[0] == 403  # no Host
    assert asked(page, f"/{token}/", f"Host: {netloc}", "Host: evil.example")[0] == 403


def test_a_tunnel_has_a_port_of_its_own(page):
    _, token = place(page)
    with opened_socket(page, f"/{token}", "http://localhost:9000", host="localhost:9000") as wire:
        assert len(wire.recv(timeout=PATIENCE)) > 0


def test_every_studio_has_a_token_of_its_own_and_tokens_of_others_are_refused(page):
    assert len({Guard("127.0.0.1").token for _ in range(100)}) == 100
    netloc, _ = place(page)
    assert asked(page, f"/{Guard('127.0.0.1').token}/", f"Host: {netloc}")[0] == 403


def test_a_browser_is_started_with_an_address_that_works_once(monkeypatch):
    started = []
    monkeypatch.setattr(serving, "has_screen", lambda: True)
    monkeypatch.setattr(serving.webbrowser, "open", lambda address: started.append(address) or True)
    opened = kb.studio(kb.load("four-bar"), port=0, duration=0.1, browser=True)
    try:
        (address,) = started
        netloc, token = place(opened)
        assert token not in address
        path = urlsplit(address).path
        status, answer = asked(opened, path, f"Host: {netloc}")
        assert status == 303
        assert f"Location: /{token}/".encode() in answer
        assert asked(opened, path, f"Host: {netloc}")[0] == 403
        assert opened.wait(60)
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("authority", "served", "is_own"),
    [
        ("127.0.0.1:8080", "127.0.0.1", True),
        ("LOCALHOST:8080", "127.0.0.1", True),
        ("[::1]:8080", "::1", True),
        ("192.168.1.4:8080", "127.0.0.1", False),
        ("192.168.1.4:8080", "0.0.0.0", True),
        ("127.0.0.1:8080", "0.0.0.0", True),
        ("evil.example:8080", "0.0.0.0", False),
        ("lab.example:8080", "lab.example", True),
        (f"{socket.gethostname()}:8080", "0.0.0.0", True),
        ("127.0.0.1:port", "127.0.0.1", False),
        ("127.0.0.1/x", "127.0.0.1", False),
        ("", "127.0.0.1", False),
    ],
)
def test_a_name_is_ours_if_nobody_else_can_own_it(authority, served, is_own):
    assert is_own_name(authority, served) is is_own


def test_the_address_of_a_host_in_version_6_has_brackets():
    assert Guard("::1", "token").address(8080) == "http://[::1]:8080/token/"


def test_a_server_that_does_not_pass_its_requests_on_is_closed_again(monkeypatch):
    ports = []
    stop = viser.ViserServer.stop
    monkeypatch.setattr(viser.ViserServer, "stop", lambda server: (ports.append(server.get_port()), stop(server)))
    monkeypatch.setattr(serving, "guarding", lambda _: contextlib.nullcontext())
    with pytest.raises(ViewError, match="cannot be guarded"):
        kb.studio(kb.load("four-bar"), port=0, duration=0.1)
    (port,) = ports
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def test_other_servers_of_the_process_are_left_alone():
    before = websockets.asyncio.server.serve

    async def echo(connection):
        await connection.send(await connection.recv())

    async def served():
        answer = lambda *_: None  # noqa: E731  (takes part in every handshake and refuses none)
        with guards.guarding(Guard("127.0.0.1")):
            server = await websockets.asyncio.server.serve(echo, "127.0.0.1", 0, process_request=answer)
        async with server, websockets.connect(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}") as wire:
            await wire.send("heard")
            return await wire.recv()

    assert asyncio.run(served()) == "heard"
    assert websockets.asyncio.server.serve is before
