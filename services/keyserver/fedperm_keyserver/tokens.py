"""Enrolment tokens, as the key operator sees them."""

from dataclasses import dataclass
from random import Random

from fedperm.clock import Clock
from fedperm.ids import KeyName
from fedperm.wire.enrolment_token import SECRET_OCTETS, EnrolmentToken
from fedperm.wire.key_server import MintedToken, TokenList, TokenRequest, TokenStatus
from fedperm_keyserver.admission import check_token_name
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.records import Token
from fedperm_keyserver.stores import Stores

_ID_OCTETS = 8


@dataclass(frozen=True)
class Tokens:
    stores: Stores
    authority: Authority
    clock: Clock
    randomness: Random

    def mint(self, key: KeyName, wanted: TokenRequest) -> MintedToken:
        """The only time that the secret is shown."""
        self.authority.check_open()
        check_token_name(wanted.client, wanted.uses)
        minted = EnrolmentToken(
            self.randomness.randbytes(_ID_OCTETS).hex(),
            self.randomness.randbytes(SECRET_OCTETS),
            self.authority.identity.fingerprint,
        )
        now = self.clock.now()
        token = Token(
            id=minted.id,
            key=key,
            secret_sha256=minted.secret_sha256,
            uses=wanted.uses,
            used=0,
            expires_at=now + wanted.expires_in_seconds,
            revoked=False,
            client=wanted.client,
        )
        self.stores.tokens.mint(token, now)
        return MintedToken(token=minted.text, status=_status(token))

    def all(self, key: KeyName) -> TokenList:
        return TokenList(tokens=tuple(_status(token) for token in self.stores.tokens.all(key)))

    def revoke(self, key: KeyName, identifier: str) -> TokenStatus:
        self.authority.check_open()
        return _status(self.stores.tokens.revoke(key, identifier, self.clock.now()))


def _status(token: Token) -> TokenStatus:
    return TokenStatus(
        id=token.id,
        uses=token.uses,
        used=token.used,
        expires_at=token.expires_at,
        revoked=token.revoked,
        client=token.client,
    )
