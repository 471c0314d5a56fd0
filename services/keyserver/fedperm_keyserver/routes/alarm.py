"""Where refusals of tampered rows leave, from whichever route."""

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

from fedperm.errors import TamperedError
from fedperm.web.problems import refusal
from fedperm_keyserver.alarm import Alarm


def install_alarm(app: FastAPI, alarm: Alarm) -> None:
    async def refuse(_request: Request, error: Exception) -> Response:
        assert isinstance(error, TamperedError)  # noqa: S101 (the handler is installed for it only)
        await run_in_threadpool(alarm.sound, error)
        return refusal(error)

    app.add_exception_handler(TamperedError, refuse)
