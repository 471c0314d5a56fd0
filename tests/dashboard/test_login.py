"""Who gets in, by which cookie, for how long; and what other sites cannot make a browser do."""

import pytest

from fedperm.dashboard.dashboard import LOGIN_BURST
from fedperm.dashboard.sessions import MOST_SESSIONS
from tests.aggregator.bench import Bench
from tests.aggregator.test_access import endpoints
from tests.dashboard.places import Place, at_the_aggregator
from tests.dashboard.visitor import Visitor

pytestmark = pytest.mark.anyio

PRIVATE = (
    "/dashboard/api/session",
    "/dashboard/api/live",
    "/dashboard/api/runs/digits",
    "/dashboard/api/runs/digits/live",
    "/dashboard/api/runs/digits/rounds/1",
    "/dashboard/api/runs/unknown",
)


async def test_a_stranger_is_sent_to_the_door(stranger: Visitor):
    page = await stranger.http.get("/dashboard")
    assert (page.status_code, page.headers["Location"]) == (303, "/dashboard/login")
    door = await stranger.http.get("/dashboard/login")
    assert (door.status_code, "Log in" in door.text) == (200, True)


async def test_whoever_is_in_is_not_asked_again(visitor: Visitor):
    door = await visitor.http.get("/dashboard/login")
    assert (door.status_code, door.headers["Location"]) == (303, "/dashboard")


async def test_a_stranger_is_told_nothing(stranger: Visitor):
    name = stranger.place.dashboard.entrance.cookie
    for cookies in ({}, {f"__Host-{name}": "guessed"}, {name: stranger.place.key}):
        stranger.http.cookies.update(cookies)
        for path in PRIVATE:
            answer = await stranger.http.get(path)
            assert answer.status_code == 401
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert "digits" not in answer.json()["detail"]


async def test_the_operators_bearer_token_is_no_cookie_and_a_cookie_no_bearer(own: Place):
    visitor = Visitor(own)
    await visitor.log_in()
    (secret,) = visitor.http.cookies.values()
    for token in (secret, ""):
        headers = {"Authorization": f"Bearer {token}"}
        assert (await visitor.http.get("/v1/runs", headers=headers)).status_code == 401
    assert (await visitor.http.get("/v1/runs")).status_code == 401


COOKIES = {
    "https://aggregator": ("__Host-fedperm-session", {"secure"}),
    "http://127.0.0.1:8200": ("fedperm-operator-session", set()),
}
"""By address: the name, and what it has beyond the others. Without TLS it cannot be secure."""


async def test_the_operator_gets_a_cookie_that_scripts_and_other_sites_cannot_use(
    stranger: Visitor,
):
    key = stranger.place.key
    answer = await stranger.log_in()
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard")
    cookie, *attributes = answer.headers["Set-Cookie"].split("; ")
    name, more = COOKIES[stranger.site]
    assert cookie.startswith(f"{name}=")
    assert {a.lower() for a in attributes} == {
        "httponly",
        "max-age=28800",
        "path=/",
        "samesite=strict",
        *more,
    }
    assert key not in answer.headers["Set-Cookie"]
    page = await stranger.http.get("/dashboard")
    assert page.status_code == 200
    assert key not in page.text


async def test_without_tls_the_cookie_has_another_name_and_is_not_secure(own: Place):
    async with Visitor(own, "http://127.0.0.1:8100") as plain:
        cookie = (await plain.log_in()).headers["Set-Cookie"]
        assert cookie.startswith("fedperm-session=")
        assert "secure" not in cookie.lower()
        assert await plain.is_logged_in()


async def test_behind_a_proxy_that_ends_tls_the_cookie_is_secure(own: Place):
    async with Visitor(own, "http://fedperm.example") as inside:
        answer = await inside.log_in(Origin="https://fedperm.example")
        assert answer.headers["Set-Cookie"].startswith("__Host-")


async def test_a_wrong_token_is_refused_in_words(stranger: Visitor):
    key = stranger.place.key
    for token in ("", "wrong", key + "x", key.swapcase() + " "):
        answer = await stranger.log_in(token)
        assert answer.status_code == 403
        assert "Nobody was logged in" in answer.text
        assert "Set-Cookie" not in answer.headers
    assert not await stranger.is_logged_in()


async def test_a_pasted_token_may_have_a_line_end(stranger: Visitor):
    assert (await stranger.log_in(f" {stranger.place.key}\n")).status_code == 303


async def test_a_body_that_is_no_form_is_refused(stranger: Visitor):
    for body in (b"", b"\xff\xfe", b"token", b"&" * 1000, b"a=1&" * 100, b"{}"):
        headers = {"Origin": stranger.site}
        answer = await stranger.http.post("/dashboard/login", content=body, headers=headers)
        assert answer.status_code == 403


async def test_another_site_can_neither_log_in_nor_out(visitor: Visitor):
    form = {"X-Form-Token": await visitor.form_token()}
    for origin in (None, "", "null", "https://evil.example", "https://aggregator.evil"):
        headers = form if origin is None else {"Origin": origin, **form}
        for path in ("/dashboard/login", "/dashboard/logout"):
            given = {"token": visitor.place.key}
            answer = await visitor.http.post(path, data=given, headers=headers)
            assert answer.status_code == 403
            assert "Set-Cookie" not in answer.headers
    assert await visitor.is_logged_in()
    assert (await visitor.log_in()).status_code == 303  # nor has it used anything up


async def test_logging_out_needs_the_pages_own_token_and_ends_the_session(visitor: Visitor):
    form_token = await visitor.form_token()
    for wrong in ("", "x", form_token[:-1]):
        assert (await visitor.log_out(wrong)).status_code == 403
    assert await visitor.is_logged_in()
    cookies = dict(visitor.http.cookies)
    answer = await visitor.log_out(form_token)
    assert answer.status_code == 204
    assert not visitor.http.cookies
    visitor.http.cookies.update(cookies)  # whoever has copied it
    assert not await visitor.is_logged_in()


async def test_a_session_ends_by_itself(opened: Bench, visitor: Visitor):
    opened.clock.advance(8 * 3600 - 1)
    assert await visitor.is_logged_in()
    opened.clock.advance(1)
    assert not await visitor.is_logged_in()
    assert (await visitor.http.get("/dashboard")).status_code == 303


async def test_a_session_ends_with_the_process_that_opened_it(opened: Bench, own: Place):
    async with Visitor(own) as visitor:
        await visitor.log_in()
        opened.aggregator = successor = opened.aggregator.restarted()
        async with at_the_aggregator(opened) as again, Visitor(again) as later:
            later.http.cookies = visitor.http.cookies
            assert not await later.is_logged_in()
    successor.close()


async def test_guessing_is_slowed_down(opened: Bench, stranger: Visitor):
    tries = [await stranger.log_in("guess") for _ in range(LOGIN_BURST + 1)]
    assert [answer.status_code for answer in tries] == [403] * LOGIN_BURST + [429]
    assert (await stranger.log_in()).status_code == 429
    opened.clock.advance(2)
    assert (await stranger.log_in()).status_code == 303


async def test_sessions_do_not_pile_up(place: Place):
    sessions = place.dashboard.sessions
    secrets = [sessions.log_in(place.key) for _ in range(MOST_SESSIONS + 1)]
    assert [sessions.is_open(secret) for secret in secrets] == [False, *[True] * MOST_SESSIONS]
    assert len(set(secrets)) == len(secrets)


async def test_whatever_the_page_asks_for_is_among_the_private(place: Place):
    asked = {p for _, p in endpoints(place.app.routes) if "/dashboard/api/" in p}
    assert asked
    assert {path.format(run="digits", number=1) for path in asked} <= set(PRIVATE)
