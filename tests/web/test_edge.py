"""Whatever goes wrong leaves as a problem document that says what and what to do."""

import json
import logging
import re

import pytest

from fedperm.errors import SealedError
from fedperm.web.requests import CREDENTIAL_BODY, SMALL_BODY
from tests.web.edge import caller, edge_service
from tests.web.unread import Unread

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def http():
    async with caller(edge_service()) as http:
        yield http


def problem(response):
    assert response.headers["Content-Type"] == "application/problem+json"
    document = response.json()
    assert document["status"] == response.status_code
    assert document["request_id"] == response.headers["X-Request-ID"]
    assert document["title"]
    assert document["detail"]
    assert document["hint"]
    return document["type"].removeprefix("urn:fedperm:problem:")


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/errors/conflict", 409, "conflict"),
        ("/errors/unauthenticated", 401, "unauthenticated"),
        ("/errors/rate", 429, "rate-limit"),
        ("/errors/busy", 503, "busy"),
        ("/errors/strange", 500, "internal-error"),
        ("/crash", 500, "internal-error"),
        ("/full", 507, "storage-full"),
        ("/nowhere", 404, "unknown-path"),
        ("/full/", 404, "unknown-path"),
        ("/numbers?n=-1", 422, "invalid-request"),
        ("/numbers?n=x", 422, "invalid-request"),
        ("/mine", 401, "unauthenticated"),
    ],
)
async def test_every_error_is_a_problem(http, path, status, kind):
    response = await http.get(path)
    assert response.status_code == status
    assert problem(response) == kind


async def test_a_wrong_method_is_a_problem_that_names_the_right_ones(http):
    response = await http.post("/crash")
    assert problem(response) == "method-not-allowed"
    assert response.json()["detail"] == "/crash does not take POST"
    assert "GET" in response.headers["Allow"]


async def test_who_may_have_come_to_the_other_server_is_told(http):
    said = (await http.get("/v1/runs")).json()
    assert said["detail"] == "this server has no path /v1/runs"
    assert "`fedperm preflight` tells which is which" in said["hint"]


async def test_who_must_wait_is_told_how_long(http):
    assert (await http.get("/errors/rate")).headers["Retry-After"] == "3"
    assert (await http.get("/errors/busy")).headers["Retry-After"] == "1"


async def test_who_is_unknown_is_told_how_to_say_who_he_is(http):
    assert (await http.get("/mine")).headers["WWW-Authenticate"] == "Bearer"
    known = await http.get("/mine", headers={"Authorization": "Bearer abc"})
    assert known.json() == 3


async def test_a_crash_tells_the_log_and_not_the_caller(http, caplog):
    response = await http.get("/crash")
    assert "4711" not in response.text
    assert "4711" in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        '{"count": 1}',
        '{"count": 1, "share": 2.0, "more": 3}',
        '{"count": "1", "share": 2.0}',
        '{"count": 1, "share": "2"}',
        '{"count": 1, "share": NaN}',
        '{"count": 1, "share": 1e999}',
        '{"count": true, "share": 2.0}',
        "[1, 2]",
        "{",
        "",
    ],
)
async def test_json_of_another_form_is_refused_and_not_repeated(http, body):
    response = await http.put("/things", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    assert problem(response) == "invalid-request"
    assert response.json()["errors"]


async def test_of_a_thousand_mistakes_the_first_is_told(http):
    """A short answer to a long body: nobody gets megabytes for kilobytes."""
    wrong = json.dumps({f"{number}": 1 for number in range(1000)} | {"count": 1, "share": "2"})
    response = await http.put("/things", content=wrong, headers=JSON)
    assert problem(response) == "invalid-request"
    told = {"at": "body.0", "problem": "Extra inputs are not permitted"}
    assert response.json()["errors"] == [told]
    assert len(response.content) < 1_000
    response = await http.put("/things", content='{"count": "1", "share": "2"}', headers=JSON)
    assert [e["at"] for e in response.json()["errors"]] == ["body.count"]


async def test_the_name_of_a_member_is_told_in_part(http):
    response = await http.put("/things", content=json.dumps({"x" * 15_000: 1}), headers=JSON)
    assert len(response.content) < 2_000


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"count": 1, "share": 2.0, "count": 3}', "twice"),
        ('{"count": 1, "share": 2.0}'.encode("utf-16"), "UTF-8"),
        (b'\xef\xbb\xbf{"count": 1, "share": 2.0}', "not JSON"),
        (b"[" * 5000, "nested too deeply|not JSON"),
    ],
    ids=["a member twice", "UTF-16", "a byte order mark", "nested"],
)
async def test_json_that_readers_understand_differently_is_refused(http, body, why):
    response = await http.put("/things", content=body, headers=JSON)
    assert problem(response) == "invalid-request"
    assert re.search(why, response.json()["detail"])


@pytest.mark.parametrize("media_type", [None, "text/plain", "application/octet-stream"])
async def test_a_body_that_does_not_say_it_is_json_is_told_so(http, media_type):
    given = {} if media_type is None else {"Content-Type": media_type}
    response = await http.put("/things", content=b'{"count": 1, "share": 2.0}', headers=given)
    assert (response.status_code, problem(response)) == (415, "media-type")
    assert response.json()["hint"] == "send the header Content-Type: application/json"


async def test_nothing_is_read_of_a_body_without_a_credential(http):
    refused = Unread()
    response = await http.put("/my-things", content=refused, headers=JSON)
    assert (response.status_code, refused.is_read) == (401, False)
    admitted = Unread(b'{"count": 1, "share": 2.0}')
    bearer = {"Authorization": "Bearer abc"}
    response = await http.put("/my-things", content=admitted, headers=JSON | bearer)
    assert (response.status_code, admitted.is_read) == (200, True)


async def test_a_body_that_holds_a_credential_is_shorter_than_others(http):
    """The length is looked at before anything else, stated or not."""
    for octets, status in ((CREDENTIAL_BODY, 422), (CREDENTIAL_BODY + 1, 413)):
        assert (
            await http.put("/tokens", content=b"x" * octets, headers=JSON)
        ).status_code == status
        unstated = Unread(b"x" * octets)
        assert (await http.put("/tokens", content=unstated, headers=JSON)).status_code == status
    stated = Unread()
    length = {"Content-Length": str(CREDENTIAL_BODY + 1)}
    response = await http.put("/tokens", content=stated, headers=JSON | length)
    assert (response.status_code, stated.is_read) == (413, False)


async def test_two_lengths_are_one_too_many(http):
    both = {"Content-Length": "2", "Transfer-Encoding": "chunked"}
    response = await http.put("/things", content=Unread(), headers=JSON | both)
    assert problem(response) == "invalid-request"
    assert "Transfer-Encoding" in response.json()["detail"]
    assert response.headers["Connection"] == "close"


async def test_json_of_the_right_form_is_taken(http):
    thing = {"count": 1, "share": 2}
    assert (await http.put("/things", json=thing)).json() == {"count": 1, "share": 2.0}


async def test_a_body_has_a_limit_whether_it_states_its_length_or_not(http):
    async def chunks():
        for _ in range(5):
            yield b" " * (SMALL_BODY // 4)

    json_type = {"Content-Type": "application/json"}
    for content in (b" " * (SMALL_BODY + 1), chunks()):
        response = await http.put("/things", content=content, headers=json_type)
        assert response.status_code == 413
        assert problem(response) == "body-too-large"


async def test_a_bulk_path_checks_its_own_length(http):
    response = await http.put("/bulk/a", content=b"x" * (SMALL_BODY + 1))
    assert response.json() == SMALL_BODY + 1


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity"])
async def test_no_encoded_body_is_taken(http, encoding):
    response = await http.put("/bulk/a", content=b"x", headers={"Content-Encoding": encoding})
    assert response.status_code == 415
    assert problem(response) == "media-type"


async def test_a_tame_request_id_is_kept_and_a_wild_one_replaced(http):
    kept = await http.get("/livez", headers={"X-Request-ID": "my-id.1"})
    assert kept.headers["X-Request-ID"] == "my-id.1"
    replaced = await http.get("/livez", headers={"X-Request-ID": "a b\tc"})
    assert replaced.headers["X-Request-ID"] != "a b\tc"


async def test_health_says_what_is_wrong(http):
    assert (await http.get("/livez")).json() == {"status": "ok"}
    assert (await http.get("/readyz")).json() == {"status": "ok"}
    assert (await http.get("/version")).json()["protocol"] == "fedperm/3"

    def sealed():
        raise SealedError("no key-encryption key", "give it")

    async with caller(edge_service(sealed)) as unready:
        response = await unready.get("/readyz")
        assert response.status_code == 503
        assert problem(response) == "sealed"
        assert (await unready.get("/livez")).status_code == 200


async def test_metrics_count_requests_by_route_and_never_by_name(http):
    await http.put("/bulk/secretname", content=b"x")
    await http.get("/nowhere/secretname")
    text = (await http.get("/metrics")).text
    line = 'fedperm_http_requests_total{method="PUT",route="/bulk/{name}",status="200"} 1.0'
    assert line in text
    assert "secretname" not in text


async def test_a_method_of_the_callers_invention_is_no_label(http):
    for method in ("BREW", "INVENTED-4711"):
        await http.request(method, "/livez")
    text = (await http.get("/metrics")).text
    others = re.findall(r'fedperm_http_requests_total{method="other".*} (\d+)', text)
    assert sum(map(int, others)) == 2
    assert "INVENTED" not in text


async def test_the_log_holds_the_request_id(http, caplog):
    with caplog.at_level(logging.WARNING):
        await http.get("/errors/busy", headers={"X-Request-ID": "abc"})
    assert any("refused" in record.getMessage() for record in caplog.records)


async def test_openapi_is_served(http):
    document = (await http.get("/openapi.json")).json()
    assert "/things" in document["paths"]
    refused = document["paths"]["/things"]["put"]["responses"]["422"]["content"]
    assert refused == {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
    }
    assert "hint" in document["components"]["schemas"]["Problem"]["properties"]
    assert "HTTPValidationError" not in document["components"]["schemas"]
