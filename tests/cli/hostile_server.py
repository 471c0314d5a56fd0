"""A server that says what it likes, and a terminal that would do it."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

HOSTILE = (
    "\x1b]52;c;cm0gLXJmIH4=\x07"  # OSC 52: into the clipboard
    "\x1b]0;title\x1b\\"
    "\x1b[2J\x1b[1;1H\x1b[8m"  # CSI: clears the screen, hides what follows
    "\x9b31m\x90q\x9c"  # the same in C1
    "\u202egnp.exe\u2066\u200b\u200f"  # shows in another order, or not at all
    "\r\nhint: run this as root\x08\x08\x7f\u2028"
    "[bold red]red[/] [link=https://example.org]here[/link] :pile_of_poo:"
)
"""What others may write into any text."""

_STYLES = re.compile(r"\x1b\[[0-9;]*m")


@contextmanager
def answering(answers: Mapping[str, object], status: int = 200) -> Iterator[str]:
    """Every path that begins so is answered with this JSON; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self.rfile.read(length)
            found = [answers[path] for path in answers if self.path.startswith(path)]
            octets = json.dumps(found[0] if found else {}, ensure_ascii=False).encode()
            self.send_response(status)
            kind = "application/json" if status == 200 else "application/problem+json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(octets)))
            self.end_headers()
            self.wfile.write(octets)

        do_POST = do_PUT = do_GET  # noqa: N815 (the library's names)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def problem(text: str) -> dict[str, object]:
    return {"status": 409, "type": text, "title": text, "detail": text, "hint": text}


def on_a_terminal(command: list[str], environment: Mapping[str, str]) -> str:
    """All that the command sends to the terminal that it is started in."""
    leader, follower = pty.openpty()
    inherited = {n: v for n, v in os.environ.items() if not n.startswith("FEDPERM_")}
    process = subprocess.Popen(
        command,
        env={**inherited, "TERM": "xterm-256color", "COLUMNS": "400", **environment},
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    sent = bytearray()
    try:
        while octets := os.read(leader, 1 << 16):
            sent += octets
    except OSError:  # how a terminal says that nobody is there any more
        pass
    finally:
        os.close(leader)
        process.wait()
    return sent.decode()


def without_styles(sent: str) -> str:
    return _STYLES.sub("", sent)


def obeyed(sent: str) -> set[str]:
    """What a terminal would do something for, but for styles and line ends."""
    text = without_styles(sent)
    return {char for char in text if char not in "\r\n" and not char.isprintable()}
