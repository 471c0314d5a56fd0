"""The operator's page, and what it asks for. Not in /openapi.json: nobody else is to rely on it."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from starlette.responses import StreamingResponse

from fedperm.dashboard.assets import asset
from fedperm.dashboard.browser import (
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
from fedperm.dashboard.dashboard import Dashboard
from fedperm.dashboard.live import News
from fedperm.dashboard.views import Facts, SessionView
from fedperm.errors import UnauthenticatedError
from fedperm.wire.aggregator import RoundReport
from fedperm.wire.message import RoundField, RunField

router = APIRouter(prefix="/dashboard", include_in_schema=False)
SAME_SITE = [Depends(from_this_site)]
OPERATOR = [Depends(the_session)]


def add_dashboard(app: FastAPI, board: Dashboard) -> None:
    app.state.dashboard = board
    app.include_router(router)


@router.get("")
async def show(board: Board, cookie: Cookie) -> Response:
    if not board.sessions.is_open(cookie):
        return moved_to("/dashboard/login")
    return page("dashboard.html")


@router.get("/login")
async def login_page(board: Board, cookie: Cookie) -> Response:
    """Whoever is in need not ask."""
    if board.sessions.is_open(cookie):
        return moved_to("/dashboard")
    return page(board.entrance.page)


@router.post("/login", dependencies=SAME_SITE)
async def log_in(board: Board, request: Request) -> Response:
    board.logins.take("" if request.client is None else request.client.host)
    token = (await form_of(request)).get("token", "").strip()
    try:
        secret = board.sessions.log_in(token)
    except UnauthenticatedError:
        return page(board.entrance.refusal, 403)
    response = moved_to("/dashboard")
    set_cookie(response, board, secret, secure=is_secure(request))
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
    clear_cookies(response, board)
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
async def facts(run: RunField, board: Board, response: Response) -> Facts:
    response.headers.update(NOT_KEPT)
    return await board.facts(run)


@router.get("/api/runs/{run}/rounds/{number}", dependencies=OPERATOR)
async def round_report(
    run: RunField, number: RoundField, board: Board, response: Response
) -> RoundReport:
    response.headers.update(NOT_KEPT)
    return await board.round(run, number)


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
