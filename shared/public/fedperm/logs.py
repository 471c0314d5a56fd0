"""Logs: one JSON object a line for machines, one plain line where a person looks.

What is logged is chosen where it happens; secrets and decrypted values never are. What others
wrote, and what is too long, is made harmless here (`plain_text`).
"""

import json
import logging
import sys
import time
from contextvars import ContextVar
from typing import Literal, TextIO

from fedperm.plain_text import LONGEST, cut, one_line, visible

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being handled."""

LONGEST_TRACEBACK = 8 * LONGEST

_OWN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": cut(record.getMessage()),
            **_extra(record),
        }
        if record.exc_info:
            line["exception"] = cut(self.formatException(record.exc_info), LONGEST_TRACEBACK)
        return json.dumps(line, default=str)  # ASCII: escapes whatever does not print


class PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        extra = " ".join(f"{name}={one_line(str(v))}" for name, v in _extra(record).items())
        message = one_line(record.getMessage())
        line = f"{clock} {record.levelname.lower():7} {message} {extra}".rstrip()
        if record.exc_info:
            line += "\n" + visible(cut(self.formatException(record.exc_info), LONGEST_TRACEBACK))
        return line


def _extra(record: logging.LogRecord) -> dict[str, object]:
    extra = {name: _bounded(v) for name, v in vars(record).items() if name not in _OWN}
    if request := request_id.get():
        extra["request_id"] = request
    return extra


def _bounded(value: object) -> object:
    """As it is, unless it would make a line that nobody reads."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return value if len(text) <= LONGEST else cut(text)


def configure_logs(level: LogLevel = "INFO", stream: TextIO = sys.stderr) -> None:
    """Called once, by `__main__`."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(PlainLines() if stream.isatty() else JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("alembic", "httpx"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
