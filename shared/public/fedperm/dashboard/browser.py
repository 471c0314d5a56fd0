"""What a browser needs beside an API: cookies, forms, and headers that keep other sites out."""

from typing import Annotated
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, Request
from starlette.responses import Response

from fedperm.dashboard.assets import asset
from fedperm.dashboard.dashboard import Dashboard
from fedperm.dashboard.sessions import Session
from fedperm.errors import ForbiddenError
from fedperm.web.connections import vouch_for

FORM_TOKEN = "X-Form-Token"  # noqa: S105 (the name of a header)
SECURE = "__Host-"
"""Browsers take a cookie of such a name over TLS only, and from this very host."""

PROTECTED = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NOT_KEPT = {**PROTECTED, "Cache-Control": "no-store"}


async def _dashboard(request: Request) -> Dashboard:
    board: Dashboard = request.app.state.dashboard
    return board


Board = Annotated[Dashboard, Depends(_dashboard)]


async def cookie_of(request: Request, board: Board) -> str:
    """Empty without one."""
    name = board.entrance.cookie
    return request.cookies.get(SECURE + name) or request.cookies.get(name) or ""


Cookie = Annotated[str, Depends(cookie_of)]


async def the_session(board: Board, cookie: Cookie, request: Request) -> Session:
    session = board.sessions.find(cookie)
    vouch_for(request)
    return session


LoggedIn = Annotated[Session, Depends(the_session)]


async def from_this_site(request: Request) -> None:
    """Of a POST, browsers tell where it comes from; no page of another site can pretend."""
    origin = urlsplit(request.headers.get("origin", ""))
    if not origin.netloc or origin.netloc != request.headers.get("host"):
        raise ForbiddenError("this request is not from the dashboard", "open /dashboard/login")


async def form_of(request: Request) -> dict[str, str]:
    """The first value of each field."""
    try:
        fields = parse_qs((await request.body()).decode(), max_num_fields=10)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


def is_secure(request: Request) -> bool:
    """Over TLS, also if a proxy ends it: the browser names the page's scheme."""
    origin = request.headers.get("origin", "")
    return request.url.scheme == "https" or origin.startswith("https://")


def set_cookie(response: Response, board: Dashboard, secret: str, *, secure: bool) -> None:
    response.set_cookie(
        f"{SECURE if secure else ''}{board.entrance.cookie}",
        secret,
        max_age=int(board.sessions.seconds),
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def clear_cookies(response: Response, board: Dashboard) -> None:
    plain = board.entrance.cookie
    for name, secure in ((SECURE + plain, True), (plain, False)):
        response.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="strict")


def page(name: str, status: int = 200) -> Response:
    found = asset(name)
    return Response(found.octets, status, NOT_KEPT, found.media_type)


def moved_to(path: str) -> Response:
    return Response(status_code=303, headers={**NOT_KEPT, "Location": path})
