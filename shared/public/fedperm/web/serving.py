"""A server process: socket, TLS, signals, and an address that others can find."""

import signal
import socket
from asyncio import constants
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from fedperm.durable_file import write_durably
from fedperm.errors import SettingsError
from fedperm.web.connections import ConnectionLimits, guarded
from fedperm.web.proxies import NO_PROXIES, TrustedProxies

TLS_KIB = 16

UNSENT_OCTETS = 1 << 16
"""Of an answer, in the kernel."""

DRAIN_SECONDS = 20
"""Requests under way at SIGTERM may take so long to finish. All is over within 30 s then."""


@dataclass(frozen=True)
class Serving:
    """Where and how; port 0 takes a free one, and `address_file` says which."""

    host: str
    port: int
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    address_file: Path | None = None
    keep_alive_seconds: int = 75
    drain_seconds: int = DRAIN_SECONDS
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    proxies: TrustedProxies = NO_PROXIES

    def __post_init__(self) -> None:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise SettingsError(
                "a TLS certificate without its key, or a key without it", "set both or neither"
            )


def do_nothing() -> None:
    """For servers whose answers all end by themselves."""


def _spare_memory() -> None:
    """asyncio gives every TLS connection a buffer of 256 KiB for its life, and reads 256 KiB ahead
    of the application; every client that waits holds two connections, and all upload at once. A
    TLS record has at most 16 KiB."""
    SSLProtocol.max_size = TLS_KIB << 10
    vars(constants)["FLOW_CONTROL_HIGH_WATER_SSL_READ"] = TLS_KIB


def _hurry_handshakes(seconds: float) -> None:
    """Of connections that have not come so far no protocol knows, and so none counts them; asyncio
    waits for a minute."""
    vars(constants)["SSL_HANDSHAKE_TIMEOUT"] = seconds


def keep_to_oneself(_address: str) -> None:
    """For servers whose address is known, or in a file."""


def serve(
    app: FastAPI,
    serving: Serving,
    on_stop: Callable[[], None] = do_nothing,
    on_listening: Callable[[str], None] = keep_to_oneself,
) -> None:
    """Until SIGTERM or SIGINT. `on_stop` is called at the signal, before the requests under way
    are waited for: long polls and streams learn from it that they are to end. `on_listening` is
    told the address; whoever asks there from then on is answered a little later."""
    server = _Server(_config(app, serving), on_stop)
    listener = _listen(serving)
    _heed_signals(server)
    _spare_memory()
    _hurry_handshakes(serving.limits.head_seconds)
    if serving.address_file is not None:
        write_durably(serving.address_file, _address(serving, listener).encode())
    on_listening(_address(serving, listener))
    server.run(sockets=[listener])


def _heed_signals(server: uvicorn.Server) -> None:
    """Before uvicorn does: a signal in between must not be lost. And after it has left off: it
    raises the signal that ended it once more, but a server that was asked to end has not failed."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.handle_exit)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._on_stop()


def _listen(serving: Serving) -> socket.socket:
    try:
        listener = socket.create_server((serving.host, serving.port), backlog=2048)
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {serving.host} port {serving.port}: {error.strerror}",
            "choose another port, or stop what uses this one",
        ) from None
    # inherited by every connection; else an answer waits for the peer's delayed acknowledgement,
    # and asyncio does it only for sockets that were made with the number of the protocol
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _see_who_reads(listener, serving.limits.unread_seconds)
    return listener


def _see_who_reads(listener: socket.socket, unread_seconds: float) -> None:
    """The kernel takes megabytes for a peer that takes nothing. Where it can, it keeps little, so
    that the protocol sees what a slow peer has taken; and it gives up a peer that takes nothing of
    what lies below the protocol, in the kernel or in TLS."""
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_OCTETS)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = int(1000 * unread_seconds)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)


def _address(serving: Serving, listener: socket.socket) -> str:
    scheme = "http" if serving.tls_certificate is None else "https"
    return f"{scheme}://{serving.host}:{listener.getsockname()[1]}"


def _config(app: FastAPI, serving: Serving) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        loop="fedperm.web.event_loop:fair_loop",
        http=guarded(serving.limits, serving.proxies),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # callers must not choose the address that limits count by
        proxy_headers=bool(serving.proxies),
        forwarded_allow_ips=serving.proxies.texts(),
        timeout_keep_alive=serving.keep_alive_seconds,
        timeout_graceful_shutdown=serving.drain_seconds,
        ssl_certfile=serving.tls_certificate,
        ssl_keyfile=serving.tls_key,
    )
    try:
        config.load()
    except OSError as error:
        raise SettingsError(
            f"the TLS certificate or its key cannot be read: {error}", "check both files"
        ) from None
    return config
