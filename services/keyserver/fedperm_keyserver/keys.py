"""Keys: created once, rotated epoch by epoch; old epochs can be destroyed.

An epoch is dealt before the transaction that keeps it, since that takes seconds. One that loses
a race, or whose process dies, was promised to nobody.
"""

from dataclasses import dataclass
from random import Random

from fedperm.clock import Clock
from fedperm.errors import ConflictError
from fedperm.ids import EpochNumber, KeyName
from fedperm.wire.key_server import DestroyedEpoch, KeyList, KeyRequest, KeyStatus, SignedEpoch
from fedperm.wire.statements import SchemeSpec
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.records import Key
from fedperm_keyserver.stores import Stores
from fedperm_secret.custody import CUSTODIES, Dealt


@dataclass(frozen=True)
class Keys:
    stores: Stores
    authority: Authority
    clock: Clock
    randomness: Random
    insecure_for_tests: bool = False

    def create(self, name: KeyName, wanted: KeyRequest) -> tuple[KeyStatus, bool]:
        """The key, and whether it is new."""
        kept, is_new = self.stores.keys.find(name), False
        if kept is None:
            dealt = self.deal(wanted.scheme, wanted.keys)
            now = self.clock.now()
            first = self.authority.make_epoch(dealt, name, EpochNumber(1), now)
            key = Key(
                name=name,
                scheme=wanted.scheme.name,
                parameters=wanted.scheme.parameters,
                keys=wanted.keys,
                latest_epoch=first.number,
                key_id=first.key_id,
                created_at=now,
            )
            kept = self.stores.keys.create(key, first)
            is_new = kept == key
        if (kept.scheme_spec, kept.keys) != (wanted.scheme, wanted.keys):
            raise ConflictError(
                f"key {name} is of {kept.scheme_spec}, {kept.keys}", "choose another name"
            )
        return _status(kept), is_new

    def status(self, name: KeyName) -> KeyStatus:
        return _status(self.stores.keys.get(name))

    def all(self) -> KeyList:
        return KeyList(keys=tuple(_status(key) for key in self.stores.keys.all()))

    def epoch(self, name: KeyName, number: EpochNumber, signer: str | None) -> SignedEpoch:
        """As it was signed first, or by the identity with this fingerprint."""
        record = self.stores.keys.epoch(name, number).record
        return SignedEpoch(record=self.authority.signed_by(signer, record) if signer else record)

    def newly_signed(self, name: KeyName, number: EpochNumber) -> SignedEpoch:
        return self.epoch(name, number, self.authority.identity.fingerprint)

    def rotate(self, name: KeyName, number: EpochNumber) -> tuple[SignedEpoch, bool]:
        """The epoch, and whether it is new. It is asked for by its number, so that a repeated
        request does not rotate twice."""
        key = self.stores.keys.get(name)
        if number <= key.latest_epoch:
            return self.newly_signed(name, number), False
        if number > key.latest_epoch + 1:
            raise ConflictError(
                f"epoch {number} of key {name} is not the next one",
                f"the next one is {key.latest_epoch + 1}",
            )
        dealt = self.deal(key.scheme_spec, key.keys)
        epoch = self.authority.make_epoch(dealt, name, number, self.clock.now())
        kept = self.stores.keys.rotate(epoch, "by the key operator")
        return SignedEpoch(record=kept.record), kept == epoch

    def destroy(self, name: KeyName, number: EpochNumber) -> DestroyedEpoch:
        """Sent again, it erases leftovers again: the first one may have died in between."""
        self.authority.check_open()
        now = self.clock.now()
        epoch = self.stores.keys.destroy(name, number, now)
        self.stores.secrets.erase_leftovers()
        return DestroyedEpoch(
            key=name,
            epoch=number,
            key_id=epoch.key_id,
            destroyed_at=epoch.destroyed_at or now,
        )

    def deal(self, scheme: SchemeSpec, keys: str) -> Dealt:
        custody = CUSTODIES[keys]
        chosen = scheme.scheme(insecure_for_tests=self.insecure_for_tests)
        self.authority.check_open()
        return custody.deal(chosen, self.randomness)


def _status(key: Key) -> KeyStatus:
    return KeyStatus(
        key=key.name,
        scheme=key.scheme_spec,
        keys=key.keys,
        latest_epoch=key.latest_epoch,
        key_id=key.key_id,
        created_at=key.created_at,
    )
