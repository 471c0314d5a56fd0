"""A key epoch is believed only if everything about it fits together."""

from random import Random

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fedperm.errors import UntrustedError
from fedperm.run_document import KeySpec
from fedperm.wire.key_server import Enrolled, Identity
from fedperm.wire.public_keys import fingerprint, text_of, to_text
from fedperm.wire.signed import sign
from fedperm.wire.statements import EpochNotice, EpochRecord, KeyRelease, SchemeSpec
from fedperm_client.epoch_keys import (
    EpochKey,
    check_key_server,
    opened_key,
    verified_notice,
    verified_record,
)
from fedperm_client.errors import StateError
from fedperm_client.identity import ClientIdentity, ClientKeys
from fedperm_client.keyring import NewestEpoch
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import generate_key
from tests.client.documents import document
from tests.core.federation import folded, stored_update
from tests.keys.sealing import seal_key

SERVER, STRANGER = (Ed25519PrivateKey.from_private_bytes(bytes([i]) * 32) for i in (1, 2))
SIGNING_KEY = text_of(SERVER.public_key())
CONTENT = document()
CONTENT = CONTENT.model_copy(
    update={"key": CONTENT.key.model_copy(update={"signing_key": SIGNING_KEY})}
)
SPEC = KeySpec(key="main", parameters={"key_bits": 512}, signing_key=SIGNING_KEY)
ME = ClientIdentity(
    ClientKeys(
        Ed25519PrivateKey.from_private_bytes(bytes([3]) * 32),
        X25519PrivateKey.from_private_bytes(bytes([4]) * 32),
    ),
    Enrolled(
        client="alice",
        ordinal=0,
        key="main",
        key_server=Identity(signing_key=SIGNING_KEY, fingerprint=fingerprint(SIGNING_KEY)),
    ),
)


@pytest.fixture(scope="module")
def other_key():
    return generate_key(Random(8), 512, insecure_for_tests=True)


def record_of(secret_key, **changes) -> EpochRecord:
    public = secret_key.public_key
    spec = SchemeSpec.of_bits(512)
    members = {"key": "main", "epoch": 2, "scheme": spec, "public": dict(public.material)}
    return EpochRecord(**({**members, "key_id": public.key_id, "iat": 0} | changes))


def release_of(secret_key, signer=SERVER, sealed_for="alice", **changes) -> str:
    sealed = seal_key(
        secret_key, ME.keys.sealing.public_key(), key="main", epoch=2, client=sealed_for
    )
    members = {"key": "main", "epoch": 2, "client": "alice", "sealed": to_text(sealed)}
    key_id = secret_key.public_key.key_id
    return sign(KeyRelease(**({**members, "key_id": key_id, "iat": 0} | changes)), signer)


def test_a_signed_record_is_believed(small_key):
    record = record_of(small_key)
    assert verified_record(sign(record, SERVER), CONTENT, ME) == record


def test_a_record_of_another_signer_is_not(small_key):
    with pytest.raises(UntrustedError, match="not signed by the expected key"):
        verified_record(sign(record_of(small_key), STRANGER), CONTENT, ME)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"key": "other"}, "stands beside a run under main"),
        ({"scheme": SchemeSpec.of_bits(1024)}, r"the run is under paillier \(key_bits 512\)"),
        ({"scheme": SchemeSpec(name="clear", parameters={})}, "is of clear, shared"),
        ({"keys": "threshold"}, "threshold; the run is under"),
    ],
)
def test_a_record_of_another_key_is_not(small_key, change, problem):
    with pytest.raises(UntrustedError, match=problem):
        verified_record(sign(record_of(small_key, **change), SERVER), CONTENT, ME)


def test_a_released_key_opens_and_is_that_of_the_record(small_key):
    record = record_of(small_key)
    opened = opened_key(release_of(small_key), record, ME, CONTENT)
    assert opened.factors(SECRET_KEY_ACCESS) == small_key.factors(SECRET_KEY_ACCESS)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"signer": STRANGER}, "not signed by the expected key"),
        ({"epoch": 1}, "does not belong to it"),
        ({"client": "bob"}, "does not belong to it"),
        ({"key": "other"}, "does not belong to it"),
        ({"key_id": "0" * 64}, "does not belong to it"),
        ({"sealed": "not base64url!"}, "does not belong to it"),
        ({"sealed": to_text(b"x" * 100)}, "not sealed to this client"),
        ({"sealed_for": "bob"}, "not sealed to this client"),
    ],
)
def test_a_release_for_somebody_or_something_else_is_not_believed(small_key, change, problem):
    with pytest.raises(UntrustedError, match=problem):
        opened_key(release_of(small_key, **change), record_of(small_key), ME, CONTENT)


def test_p_times_q_must_be_the_records_n(small_key, other_key):
    """A key server that releases one key and shows another is noticed, whatever ids it writes."""
    public = small_key.public_key
    release = release_of(other_key, key_id=public.key_id)
    with pytest.raises(UntrustedError, match="does not belong to it"):
        opened_key(release, record_of(small_key), ME, CONTENT)


def test_the_run_must_be_under_the_key_server_that_enrolled_the_client():
    check_key_server(SPEC, ME)
    elsewhere = SPEC.model_copy(update={"signing_key": text_of(STRANGER.public_key())})
    with pytest.raises(UntrustedError, match="names another key server"):
        check_key_server(elsewhere, ME)
    with pytest.raises(UntrustedError, match="uses the key other"):
        check_key_server(SPEC.model_copy(update={"key": "other"}), ME)


def test_an_epochs_key_encrypts_and_decrypts(small_key, randomness, tmp_path):
    key, plan = EpochKey(2, small_key, CONTENT, randomness), CONTENT.plan
    coded = np.full((plan.geometry.windows, plan.geometry.k1), 123, plan.fixed_point.dtype)
    arrays = key.terms.form.prepare(coded, plan, key.encoder, randomness)
    (tmp_path / "u").write_bytes(key.terms.body.encode(arrays))
    total = folded(
        [stored_update(tmp_path / "u", plan, small_key.public_key)], plan, small_key.public_key
    )
    assert np.array_equal(key.decrypt(total), coded)


def test_a_key_shows_nothing_of_itself(small_key, randomness):
    shown = repr(EpochKey(2, small_key, CONTENT, randomness)) + repr(ME)
    for prime in small_key.factors(SECRET_KEY_ACCESS):
        assert str(prime) not in shown
        assert f"{prime:x}" not in shown


def test_nothing_is_encrypted_but_under_the_newest_epoch_that_was_named(tmp_path):
    newest = NewestEpoch(tmp_path / "newest.json")
    newest.hear(1)
    newest.check(1)
    newest.hear(3)
    after_a_restart = NewestEpoch(tmp_path / "newest.json")
    after_a_restart.check(3)
    for other in (2, 4):
        with pytest.raises(UntrustedError, match=f"epoch {other}, but the key server has named 3"):
            after_a_restart.check(other)


def test_a_key_server_that_forgets_an_epoch_is_not_believed(tmp_path):
    NewestEpoch(tmp_path / "newest.json").hear(3)
    after_a_restart = NewestEpoch(tmp_path / "newest.json")
    with pytest.raises(UntrustedError, match="names 2 as the newest key epoch, and has named 3"):
        after_a_restart.hear(2)
    after_a_restart.check(3)


NONCE = "5a" * 16


def notice(signer=SERVER, **changes) -> str:
    return sign(
        EpochNotice(**({"key": "main", "epoch": 2, "nonce": NONCE, "iat": 0} | changes)), signer
    )


def test_the_newest_epoch_is_believed_if_it_answers_the_question():
    assert verified_notice(notice(), NONCE, ME) == 2


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"signer": STRANGER}, "not signed by the expected key"),
        ({"nonce": "5b" * 16}, "no answer to this client's question"),
        ({"key": "other"}, "no answer to this client's question"),
    ],
)
def test_another_answer_about_the_newest_epoch_is_not(changes, problem):
    with pytest.raises(UntrustedError, match=problem):
        verified_notice(notice(**changes), NONCE, ME)


def test_a_damaged_file_of_the_newest_epoch_is_refused(tmp_path):
    (tmp_path / "newest.json").write_text("{}")
    with pytest.raises(StateError, match="is damaged"):
        NewestEpoch(tmp_path / "newest.json").check(1)
