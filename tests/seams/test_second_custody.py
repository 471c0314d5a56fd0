"""Another way to hold keys, which only tests have: every client is given other octets."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import ClassVar

import pytest

from fedperm.axes import KEYS, Choice
from fedperm.errors import FedPermError
from fedperm.ids import ClientName
from fedperm.schemes.scheme import Layout, Scheme
from fedperm_secret.custody import CUSTODIES, SHARED, Custody, Dealt
from fedperm_secret.reader_key import ReaderKey
from fedperm_secret.schemes.scheme import SecretHalf, SecretKey
from tests.seams.known_average import INITIAL, check_models, known_homes, known_run, run_to_its_end

pytestmark = pytest.mark.anyio


class Wrapped:
    """The whole key, behind a mask that is the client's own."""

    name: ClassVar[str] = "wrapped"

    def deal(self, scheme: Scheme, randomness: Random) -> Dealt:
        dealt = SHARED.deal(scheme, randomness)
        return Dealt(self.name, scheme, dealt.public_key, dealt.kept)

    def part_of(self, client: ClientName, kept: bytes) -> bytes:
        label = client.encode().ljust(63, b" ")
        return label + _masked(kept, label)

    def receive(self, part: bytes, scheme: Scheme) -> SecretKey:
        label, masked = part[:63], part[63:]
        return SHARED.receive(_masked(masked, label), scheme)

    def half(self, held: SecretKey, scheme: Scheme, layout: Layout) -> SecretHalf:
        return SHARED.half(held, scheme, layout)

    def reader_key(self, held: SecretKey, scheme: Scheme) -> ReaderKey:
        return SHARED.reader_key(held, scheme)


def _masked(octets: bytes, label: bytes) -> bytes:
    mask = hashlib.shake_256(label).digest(len(octets))
    return bytes(a ^ b for a, b in zip(octets, mask, strict=True))


@contextmanager
def wrapped_keys() -> Iterator[None]:
    with (
        KEYS.registered(Wrapped.name, Choice("every client holds the key behind a mask")),
        CUSTODIES.registered(Wrapped.name, Wrapped()),
    ):
        yield


@pytest.fixture(params=[SHARED, Wrapped()], ids=lambda custody: custody.name)
def custody(request: pytest.FixtureRequest) -> Custody:
    return request.param


def test_what_a_client_is_given_belongs_to_the_public_key(custody: Custody):
    scheme = known_run({}, rounds=1).scheme
    dealt = custody.deal(scheme, Random(3))
    assert (dealt.custody, dealt.scheme) == (custody.name, scheme)
    for client in ("ada", "ben"):
        held = custody.receive(custody.part_of(ClientName(client), dealt.kept), scheme)
        assert held.public_key == dealt.public_key


def test_what_is_damaged_is_refused(custody: Custody):
    scheme = known_run({}, rounds=1).scheme
    part = custody.part_of(ClientName("ada"), custody.deal(scheme, Random(3)).kept)
    with pytest.raises(FedPermError):
        custody.receive(part[:-1], scheme)


async def test_clients_that_are_given_other_octets_learn_the_plain_average(federation):
    with wrapped_keys():
        run = known_run({"keys": Wrapped.name}, rounds=2)
        await federation.start(INITIAL, run)
        homes = await known_homes(federation, run)
        await run_to_its_end(federation, homes)
        check_models(homes, rounds=2)
