"""The page on the operator's machine: who gets in there, by which name it may be asked for, and
what becomes of it while the aggregator is away."""

import pytest

from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client
from tests.client.cut_line import CutLine
from tests.dashboard.places import Place, at_the_operator, transport_to
from tests.dashboard.test_live import LIVE, told
from tests.dashboard.visitor import Visitor

pytestmark = pytest.mark.anyio


async def test_the_token_that_the_aggregator_has_does_not_open_it(operators: Place):
    async with Visitor(operators) as aggregator:
        assert (await aggregator.log_in(OPERATOR)).status_code == 403
        assert not await aggregator.is_logged_in()


async def test_a_link_opens_once_and_the_next_one_is_told(operators: Place):
    async with Visitor(operators) as first, Visitor(operators) as second:
        link = operators.key
        assert (await first.log_in(link)).status_code == 303
        refused = await second.log_in(link)
        assert refused.status_code == 403
        assert "used before" in refused.text
        assert operators.key != link
        assert (await second.log_in()).status_code == 303
        assert await first.is_logged_in()


async def test_a_whole_link_may_be_pasted(operators: Place):
    async with Visitor(operators) as visitor:
        link = f"{operators.address}/dashboard/login#{operators.key}"
        assert (await visitor.log_in(link)).status_code == 303


@pytest.mark.parametrize(
    "name",
    [
        "evil.example",
        "evil.example:8200",
        "127.0.0.1.evil.example:8200",
        "10.0.0.1:8200",
        "a@b",
        "",
    ],
)
async def test_a_name_that_leads_here_by_somebody_elses_doing_is_refused(
    operators: Place, name: str
):
    """DNS rebinding: the browser then takes the other's page for one of ours."""
    async with Visitor(operators) as visitor:
        await visitor.log_in()
        for path in ("/", "/dashboard", "/dashboard/static/main.js", "/dashboard/api/runs/digits"):
            answer = await visitor.http.get(path, headers={"Host": name})
            assert answer.status_code == 400
            assert "digits" not in answer.text
        login = await visitor.log_in(Host=name, Origin=f"http://{name}")
        assert login.status_code == 400
        assert "Set-Cookie" not in login.headers


async def test_it_answers_to_the_names_of_this_machine(operators: Place):
    """On any port: a tunnel or a container may have given it another."""
    for site in ("http://127.0.0.1:8200", "http://localhost:8200", "http://127.0.0.1:9"):
        async with Visitor(operators, site) as visitor:
            assert (await visitor.log_in()).status_code == 303
            assert (await visitor.http.get("/dashboard")).status_code == 200
            assert (await visitor.http.get("/")).headers["Location"] == "/dashboard"


async def test_another_port_of_this_machine_is_another_site(operators: Place):
    async with Visitor(operators) as visitor:
        assert (await visitor.log_in(Origin="http://127.0.0.1:8100")).status_code == 403


async def test_it_has_no_interface(operators: Place):
    async with Visitor(operators) as visitor:
        await visitor.log_in()
        bearer = {"Authorization": f"Bearer {OPERATOR}"}
        for path in ("/v1/runs", "/openapi.json", "/docs", "/redoc", "/metrics"):
            assert (await visitor.http.get(path, headers=bearer)).status_code == 404


async def test_an_aggregator_that_is_away_ends_a_stream_which_goes_on_later(
    opened: Bench, clients: list[Client]
):
    line = CutLine(transport_to(opened))
    async with at_the_operator(opened, line) as place, Visitor(place) as visitor:
        await visitor.log_in()
        position = (await told(visitor))[-1].position
        line.before += [lambda _: True] * 2
        assert await visitor.told(f"{LIVE}?after={position}") == []
        line.before += [lambda request: request.url.path.endswith("/report")]
        answer = await visitor.http.get("/dashboard/api/runs/digits/rounds/1")
        assert (answer.status_code, answer.json()["title"]) == (503, "Try again soon")
        line.before.clear()
        await opened.contribute(1, clients[0])
        rounds, now = await told(visitor, position)
        assert [one["number"] for one in rounds.content["rounds"]] == [1]
        assert now.content["progress"]["words"].startswith("Collecting updates: 1 of 3")


async def test_what_the_aggregator_refuses_the_operator_does_not_log_the_visitor_out(
    opened: Bench,
):
    """Were the aggregator's 401 passed on, the page would ask for a login that changes nothing."""
    line = CutLine(transport_to(opened))
    async with at_the_operator(opened, line) as place, Visitor(place) as visitor:
        await visitor.log_in()
        line.refusals.append((lambda _: True, 401))
        answer = await visitor.http.get("/dashboard/api/runs/digits")
        assert answer.status_code == 503
        assert "because the test says so" in answer.json()["detail"]
        assert await visitor.is_logged_in()
