"""The files that the page is made of, and the headers that hold them in."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from random import Random

import pytest

from fedperm.dashboard.assets import assets
from fedperm.dashboard.entrance import LoginLinks, by_link, by_token
from fedperm.web.credentials import OperatorCredential
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import OPERATOR
from tests.dashboard.places import Place
from tests.dashboard.visitor import Visitor

pytestmark = pytest.mark.anyio

DISTRIBUTION = Path(__file__).parents[2] / "shared" / "public"
STATIC = DISTRIBUTION / "fedperm" / "dashboard" / "static"
MOST_OCTETS = 500_000
POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
}
NAMED = re.compile(r"""(?:src|href)="([^"#]+)"|from "\./([^"]+)"|ask\("([^"]+\.json)"\)""")


def test_all_files_together_are_small():
    assert sum(len(asset.octets) for asset in assets().values()) < MOST_OCTETS


def test_every_file_that_is_named_is_there_and_every_file_is_named():
    named = {name for name in assets() if name.endswith(".html")}
    for asset in assets().values():
        for pair in NAMED.findall(asset.octets.decode()):
            (found,) = filter(None, pair)
            named.add(found.removeprefix("/dashboard/static/"))
    assert named == set(assets())


def test_every_page_has_its_place():
    """The last test takes their names from the files."""
    doors = [by_token(OperatorCredential.of(OPERATOR)), by_link(LoginLinks(Random(0), str))]
    shown = {name for door in doors for name in (door.page, door.refusal)}
    pages = {name for name in assets() if name.endswith(".html")}
    assert pages == {"dashboard.html"} | shown


def test_nothing_leads_outside():
    comment = re.compile(r"^\s*// .*$|\s// .*$", re.MULTILINE)
    pages = [asset for name, asset in assets().items() if not name.endswith(".json")]
    for asset in pages:
        text = asset.octets.decode().replace("http://www.w3.org/2000/svg", "")
        assert "//" not in comment.sub("", text)


def test_pages_have_no_script_or_style_of_their_own():
    own = re.compile(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)")
    pages = [asset for name, asset in assets().items() if name.endswith(".html")]
    assert len(pages) == 5
    assert not any(own.search(page.octets.decode()) for page in pages)


def test_scripts_make_no_markup_of_texts():
    made = re.compile(r"\.innerHTML\s*=[^=]|insertAdjacentHTML|document\.write|eval\(")
    assert [n for n, asset in assets().items() if made.search(asset.octets.decode())] == []


def test_the_distribution_holds_the_files():
    project = tomllib.loads((DISTRIBUTION / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["fedperm.dashboard"]
    files = [f"static/{path.name}" for path in STATIC.iterdir()]
    assert files
    assert all(any(fnmatch(file, pattern) for pattern in patterns) for file in files)
    assert {path.name for path in STATIC.iterdir()} == set(assets())


ANSWERS = (
    "/dashboard",
    "/dashboard/static/main.js",
    "/dashboard/api/session",
    "/dashboard/api/runs/digits",
    "/dashboard/api/runs/digits/rounds/1",
)


async def test_every_answer_is_held_in(stranger: Visitor):
    door = await stranger.http.get("/dashboard/login")
    await stranger.log_in()
    answers = {path: await stranger.http.get(path) for path in ANSWERS}
    for path, answer in {"/dashboard/login": door, **answers}.items():
        assert answer.status_code == 200
        assert set(answer.headers["Content-Security-Policy"].split("; ")) == POLICY
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        kept = "no-cache" if "static" in path else "no-store"
        assert answer.headers["Cache-Control"] == kept


async def test_a_file_is_sent_again_only_if_it_has_changed(stranger: Visitor):
    first = await stranger.http.get("/dashboard/static/style.css")
    assert first.headers["Content-Type"] == "text/css; charset=utf-8"
    headers = {"If-None-Match": first.headers["ETag"]}
    again = await stranger.http.get("/dashboard/static/style.css", headers=headers)
    assert (again.status_code, again.content) == (304, b"")


async def test_nothing_else_is_served(stranger: Visitor):
    for name in ("unknown.js", "%2e%2e%2fassets.py", "..%2fassets.py", ""):
        assert (await stranger.http.get(f"/dashboard/static/{name}")).status_code == 404


async def test_the_page_is_no_part_of_the_interface(opened: Bench):
    assert not any("dashboard" in path for path in opened.aggregator.app.openapi()["paths"])


async def test_it_can_be_switched_off(folder, clock):
    aggregator = Aggregator(folder, clock, dashboard=False)
    nothing = Place(None, aggregator.app, None, None, "https://aggregator", [OPERATOR])
    async with Visitor(nothing) as visitor:
        for path in ("/dashboard", "/dashboard/login", "/dashboard/static/main.js"):
            assert (await visitor.http.get(path)).status_code == 404
        assert (await visitor.log_in()).status_code == 404
    aggregator.close()
