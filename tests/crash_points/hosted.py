"""An application of this process, served over real HTTP to processes that die."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

PATIENCE_SECONDS = 120.0


@contextmanager
def hosted(app: ASGIApp, on_stop: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Its address, while it is served."""
    config = uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        end = time.monotonic() + PATIENCE_SECONDS
        while not server.started:
            assert time.monotonic() < end, "the server does not start"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        on_stop()
        server.should_exit = True
        thread.join()
