"""Keys are made once, rotated by number, and no request made twice does anything twice."""

import pytest

from fedperm.audit_chain import verify_chain
from fedperm.errors import KeyStrengthError
from fedperm.wire.key_server import KeyRequest, KeyStatus, SignedEpoch
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord, SchemeSpec
from tests.keyserver.refusals import refusal
from tests.keyserver.server import KEY_BITS, OPERATOR

pytestmark = pytest.mark.anyio
WANTED = KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS))


async def test_a_key_is_made_once_and_found_again(start, clock):
    server = start()
    first = await server.send("PUT", "/v1/keys/demo", WANTED, OPERATOR)
    clock.advance(10)
    again = await server.send("PUT", "/v1/keys/demo", WANTED, OPERATOR)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    status = KeyStatus.model_validate_json(first.content)
    assert (status.key, status.scheme, status.latest_epoch) == ("demo", WANTED.scheme, 1)
    assert status == await server.api.key("demo")


async def test_another_size_under_the_same_name_is_a_conflict(server):
    wanted = KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS + 16))
    await refusal(409, "conflict", server.api.create_key("demo", wanted, OPERATOR))


@pytest.mark.parametrize("key_bits", [0, 100, 2**31 - 1])
async def test_an_unusual_size_is_refused(server, key_bits):
    wanted = KeyRequest(scheme=SchemeSpec(parameters={"key_bits": key_bits}))
    await refusal(422, "wrong-key", server.api.create_key("odd", wanted, OPERATOR))
    with pytest.raises(KeyStrengthError, match=f"{key_bits} bits"):
        SchemeSpec.of_bits(key_bits)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"scheme": SchemeSpec(name="rot")}, "wrong-parameters"),
        ({"scheme": SchemeSpec(name="lattice")}, "wrong-parameters"),
        ({"scheme": SchemeSpec(parameters={})}, "wrong-parameters"),
        ({"scheme": SchemeSpec(parameters={"key_bits": 512, "colour": 3})}, "wrong-parameters"),
        ({"keys": "threshold"}, "wrong-parameters"),
        ({"keys": "nobody"}, "wrong-parameters"),
    ],
)
async def test_a_scheme_or_custody_that_is_not_there_is_refused(server, change, kind):
    wanted = WANTED.model_copy(update=change)
    await refusal(422, kind, server.api.create_key("odd", wanted, OPERATOR))


@pytest.mark.parametrize("key_bits", [KEY_BITS, 1024])
async def test_other_than_the_usual_sizes_need_the_switch(start, key_bits):
    server, wanted = (
        start(insecure_for_tests=False),
        KeyRequest(scheme=SchemeSpec.of_bits(key_bits)),
    )
    await refusal(422, "wrong-key", server.api.create_key("demo", wanted, OPERATOR))


async def test_keys_are_listed_by_name(server):
    await server.api.create_key("another", WANTED, OPERATOR)
    listed = (await server.api.keys(OPERATOR)).keys
    assert [key.key for key in listed] == ["another", "demo"]
    assert listed[1] == await server.api.key("demo")


async def test_unknown_keys_and_epochs_are_not_found(server):
    await refusal(404, "unknown-resource", server.api.key("other"))
    await refusal(404, "unknown-resource", server.api.epoch("other", 1))
    error = await refusal(404, "unknown-resource", server.api.epoch("demo", 2))
    assert "latest epoch is 1" in error.hint


async def test_a_rotation_is_asked_for_by_number_and_done_once(server):
    first = await server.send("PUT", "/v1/keys/demo/epochs/2", token=OPERATOR)
    again = await server.send("PUT", "/v1/keys/demo/epochs/2", token=OPERATOR)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    status = await server.api.key("demo")
    record = verify_record(server, SignedEpoch.model_validate_json(first.content))
    assert (status.latest_epoch, status.key_id) == (2, record.key_id)


def verify_record(server, answer: SignedEpoch) -> EpochRecord:
    return verify(answer.record, EpochRecord, server.authority.public_key)


async def test_only_the_next_epoch_can_be_made(server):
    error = await refusal(409, "conflict", server.api.create_epoch("demo", 3, OPERATOR))
    assert "the next one is 2" in error.hint
    await refusal(404, "unknown-resource", server.api.create_epoch("other", 1, OPERATOR))
    existing = await server.api.create_epoch("demo", 1, OPERATOR)
    assert existing == await server.api.epoch("demo", 1)


async def test_an_epoch_record_holds_the_key_that_it_names(server, clock):
    record = verify_record(server, await server.api.epoch("demo", 1))
    public = record.public_key(insecure_for_tests=True)
    assert record.scheme == SchemeSpec.of_bits(public.key_bits) == SchemeSpec.of_bits(KEY_BITS)
    assert (record.key, record.epoch, record.iat) == ("demo", 1, clock.time)


async def test_a_crash_before_a_key_is_kept_promises_nothing_and_the_retry_works(server, clock):
    def crash() -> None:
        raise MemoryError

    clock.meanwhile.append(crash)
    crashed = await server.send("PUT", "/v1/keys/other", WANTED, OPERATOR)
    assert crashed.status_code == 500
    await refusal(404, "unknown-resource", server.api.key("other"))
    assert (await server.api.create_key("other", WANTED, OPERATOR)).latest_epoch == 1


async def test_creating_and_rotating_are_audited_with_the_reason(server):
    await server.api.create_epoch("demo", 2, OPERATOR)
    entries = (await server.api.audit(OPERATOR)).entries
    verify_chain(entries)
    assert [entry.event for entry in entries] == ["identity-created", "key-created", "key-rotated"]
    assert entries[1].details["key_bits"] == KEY_BITS
    assert entries[2].details["why"] == "by the key operator"
    assert entries[2].details["key_id"] == (await server.api.key("demo")).key_id
