"""The operator's page, and what it asks for. Not in /openapi.json: nobody else is to rely on it."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.responses import StreamingResponse

from fedperm.errors import UnauthenticatedError
from fedperm.wire.aggregator import RoundReport
from fedperm.wire.message import RoundField, RunField
from fedperm_aggregator.dashboard.assets import asset
from fedperm_aggregator.dashboard.live import News
from fedperm_aggregator.dashboard.views import Facts, SessionView
from fedperm_aggregator.routes.browser import (
    FORM_TOKEN,
    NOT_KEPT,
    PROTECTED,
    Board,
    Cookie,
    LoggedIn,
    clear_cookies,
    form_of,
    from_this_site,
    is_secure,
    moved_to,
    page,
    set_cookie,
    the_session,
)

router = APIRouter(prefix="/dashboard", include_in_schema=False)
SAME_SITE = [Depends(from_this_site)]
OPERATOR = [Depends(the_session)]


@router.get("")
async def show(board: Board, cookie: Cookie) -> Response:
    if not board.sessions.is_open(cookie):
        return moved_to("/dashboard/login")
    return page(asset("dashboard.html"))


@router.get("/login")
async def login_page() -> Response:
    return page(asset("login.html"))


@router.post("/login", dependencies=SAME_SITE)
async def log_in(board: Board, request: Request) -> Response:
    board.logins.take("" if request.client is None else request.client.host)
    token = (await form_of(request)).get("token", "").strip()
    try:
        secret = board.sessions.log_in(token)
    except UnauthenticatedError:
        return page(asset("login-refused.html"), 403)
    response = moved_to("/dashboard")
    set_cookie(response, secret, board.sessions.seconds, secure=is_secure(request))
    return response


@router.post("/logout", dependencies=SAME_SITE)
async def log_out(
    board: Board,
    cookie: Cookie,
    session: LoggedIn,
    form_token: Annotated[str, Header(alias=FORM_TOKEN)] = "",
) -> Response:
    session.check_form(form_token)
    board.sessions.log_out(cookie)
    response = Response(status_code=204, headers=NOT_KEPT)
    clear_cookies(response)
    return response


@router.get("/static/{name}")
async def static(name: str, request: Request) -> Response:
    """Asked for anew every time, sent only if it is another one."""
    found = asset(name)
    headers = {**PROTECTED, "Cache-Control": "no-cache", "ETag": found.tag}
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.octets, 200, headers, found.media_type)


@router.get("/api/session")
async def session_view(session: LoggedIn, response: Response) -> SessionView:
    response.headers.update(NOT_KEPT)
    return SessionView(form_token=session.form_token, ends_at=session.ends_at)


@router.get("/api/runs/{run}", dependencies=OPERATOR)
def facts(run: RunField, board: Board, response: Response) -> Facts:
    response.headers.update(NOT_KEPT)
    return board.facts(run)


@router.get("/api/runs/{run}/rounds/{number}", dependencies=OPERATOR)
def round_report(
    run: RunField, number: RoundField, board: Board, response: Response
) -> RoundReport:
    response.headers.update(NOT_KEPT)
    return board.round(run, number)


@router.get("/api/live", dependencies=OPERATOR)
async def live_runs(board: Board, cookie: Cookie) -> StreamingResponse:
    return _stream(board.live.all_runs(lambda: board.sessions.is_open(cookie)))


@router.get("/api/runs/{run}/live", dependencies=OPERATOR)
async def live_run(
    board: Board,
    cookie: Cookie,
    known: Annotated[Facts, Depends(facts)],
    after: Annotated[int, Query(ge=0, lt=1 << 63)] = 0,
) -> StreamingResponse:
    """`known`: an unknown run is refused before the stream begins."""
    return _stream(board.live.run(known.run, after, lambda: board.sessions.is_open(cookie)))


def _stream(news: AsyncIterator[News | None]) -> StreamingResponse:
    return StreamingResponse(_lines(news), media_type="text/event-stream", headers=NOT_KEPT)


async def _lines(news: AsyncIterator[News | None]) -> AsyncIterator[str]:
    yield ": welcome\n\n"
    async for one in news:
        if one is None:
            yield "event: alive\ndata: {}\n\n"
        else:
            content = one.content.model_dump_json()
            yield f"id: {one.position}\nevent: {one.kind}\ndata: {content}\n\n"
