"""Logs: one JSON object a line for machines, one plain line where a person looks.

What is logged is chosen where it happens; secrets and decrypted values never are.
"""

import json
import logging
import sys
import time
from contextvars import ContextVar
from typing import Literal, TextIO

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being handled."""

_OWN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        extra = " ".join(f"{name}={value}" for name, value in _extra(record).items())
        line = f"{clock} {record.levelname.lower():7} {record.getMessage()} {extra}".rstrip()
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _extra(record: logging.LogRecord) -> dict[str, object]:
    extra = {name: value for name, value in vars(record).items() if name not in _OWN}
    if request := request_id.get():
        extra["request_id"] = request
    return extra


def configure_logs(level: LogLevel = "INFO", stream: TextIO = sys.stderr) -> None:
    """Called once, by `__main__`."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(PlainLines() if stream.isatty() else JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("alembic", "httpx"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
