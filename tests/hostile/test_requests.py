"""Generated requests to both servers, right and wrong, by everybody: no crash, no answer that the
descriptions do not name, and nothing for those whom the protocol does not name.

`make fuzz` sends many more."""

from collections.abc import Iterator

import pytest
from fastapi import Request
from starlette.responses import JSONResponse, Response

from fedperm.web.health import Version
from fedperm.web.problems import problem_response
from fedperm.wire.problem import ProblemKind
from tests.hostile.attack import targets
from tests.hostile.campaign import skirmish
from tests.hostile.credentials import ADMITS, documented
from tests.hostile.laws import Breach
from tests.hostile.world import Servers, World, world


@pytest.fixture(scope="module")
def made() -> Iterator[World]:
    with world() as made:
        yield made


def test_the_protocol_names_every_operation_and_says_for_whom_it_is(made: World) -> None:
    with made.copy() as servers:
        described = {target.endpoint for target in targets(servers.apps)}
    listed = documented()
    assert described == set(listed)
    assert {word.strip() for who in listed.values() for word in who.split(",")} == set(ADMITS)


def test_no_generated_request_breaks_a_law(made: World) -> None:
    tally = skirmish(made, 400, 1)
    assert tally.is_clean, "\n".join(tally.lines())
    assert len(tally.operations) >= len(documented())
    assert len(tally.statuses) >= 8, tally.statuses


def test_what_breaks_a_law_is_found(made: World) -> None:
    """Routes that no server has, each with a fault of its own."""
    tally = skirmish(made, 140, 1, plant, only="/v1/planted")
    for fault, breach in PLANTED.items():
        assert any(f"/v1/planted/{fault}" in found for found in tally.breaches[breach]), fault


NUMBER = {"required": True, "content": {"application/json": {"schema": {"type": "integer"}}}}
PLANTED = {
    "crash": Breach.SERVER_ERROR,
    "teapot": Breach.UNDOCUMENTED,
    "form": Breach.UNDOCUMENTED,
    "anything": Breach.UNDOCUMENTED,
    "plain": Breach.NO_PROBLEM,
    "open": Breach.WITHOUT_SCOPE,
    "echo": Breach.SECRET,
}


def plant(servers: Servers) -> None:
    app = servers.aggregator.app

    @app.get("/v1/planted/crash")
    def crash() -> None:
        raise RuntimeError

    @app.get("/v1/planted/teapot")
    def teapot() -> Response:
        return problem_response(ProblemKind("teapot", 418, "short").problem("and", "stout"))

    @app.get("/v1/planted/form", response_model=Version, response_class=JSONResponse)
    def form() -> Response:
        return JSONResponse({"service": 5})

    @app.put("/v1/planted/anything", openapi_extra={"requestBody": NUMBER})
    def anything() -> None:
        """Whatever comes, though the description wants a number."""

    @app.get("/v1/planted/plain")
    def plain() -> Response:
        return Response("no", 422)

    @app.get("/v1/planted/open")
    def unguarded() -> None:
        """For everybody, though the protocol says nothing of it."""

    @app.get("/v1/planted/echo")
    def echo(request: Request) -> dict[str, str]:
        return dict(request.headers)
