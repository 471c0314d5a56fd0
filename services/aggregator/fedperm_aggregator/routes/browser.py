"""What a browser needs beside an API: cookies, forms, and headers that keep other sites out."""

from typing import Annotated
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, Request
from starlette.responses import Response

from fedperm.errors import ForbiddenError
from fedperm_aggregator.dashboard.assets import Asset
from fedperm_aggregator.dashboard.dashboard import Dashboard
from fedperm_aggregator.dashboard.sessions import Session
from fedperm_aggregator.routes.access import Here

FORM_TOKEN = "X-Form-Token"  # noqa: S105 (the name of a header)
PLAIN_COOKIE = "fedperm-session"
SECURE_COOKIE = f"__Host-{PLAIN_COOKIE}"
"""Browsers take this name over TLS only, and from this very host."""

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


async def _dashboard(here: Here) -> Dashboard:
    return here.dashboard


Board = Annotated[Dashboard, Depends(_dashboard)]


async def cookie_of(request: Request) -> str:
    """Empty without one."""
    return request.cookies.get(SECURE_COOKIE) or request.cookies.get(PLAIN_COOKIE) or ""


Cookie = Annotated[str, Depends(cookie_of)]


async def the_session(board: Board, cookie: Cookie) -> Session:
    return board.sessions.find(cookie)


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


def set_cookie(response: Response, secret: str, seconds: float, *, secure: bool) -> None:
    response.set_cookie(
        SECURE_COOKIE if secure else PLAIN_COOKIE,
        secret,
        max_age=int(seconds),
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def clear_cookies(response: Response) -> None:
    for name, secure in ((SECURE_COOKIE, True), (PLAIN_COOKIE, False)):
        response.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="strict")


def page(asset: Asset, status: int = 200) -> Response:
    return Response(asset.octets, status, NOT_KEPT, asset.media_type)


def moved_to(path: str) -> Response:
    return Response(status_code=303, headers={**NOT_KEPT, "Location": path})
