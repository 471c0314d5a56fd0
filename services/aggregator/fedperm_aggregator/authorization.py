"""Who may do what: the operator by a secret, participants by their key server's signature."""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from fedperm.clock import Clock
from fedperm.errors import ForbiddenError, UnauthenticatedError, UntrustedError
from fedperm.ids import ClientName, RunName
from fedperm.run_document import FrozenDocument
from fedperm.services import AGGREGATOR
from fedperm.web.credentials import OperatorCredential, TokenVerifier
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.public_keys import KeyText, signing_key
from fedperm.wire.signed import unverified
from fedperm.wire.statements import AccessToken
from fedperm_aggregator.run_documents import RunDocuments

MOST_REMEMBERED = 10_000
"""Tokens; the oldest is forgotten first. A client has a new one every few minutes."""

_Case = tuple[bytes, RunName]
"""The hash of a token, and the run it is shown for."""


@dataclass(frozen=True)
class Participant:
    """A client as its access token names it; uploads are signed with `signing_key`."""

    client: ClientName
    signing_key: KeyText


class Authorization:
    """The signing key is in the run's document: no route to the key server is needed.

    A token is judged once. Of those that were found good the hash is remembered, so that hundreds
    of heartbeats a second need neither the database nor a thread; time is checked every time. So is
    how often the client calls, whatever it asks for.
    """

    def __init__(
        self,
        operator: OperatorCredential,
        documents: RunDocuments,
        clock: Clock,
        calls: RateLimit,
        most_remembered: int = MOST_REMEMBERED,
    ) -> None:
        self._operator = operator
        self._documents = documents
        self._clock = clock
        self._calls = calls
        self._remembered: OrderedDict[_Case, AccessToken | None] = OrderedDict()
        self._most_remembered = most_remembered
        self._lock = Lock()

    def remembers(self, bearer: str, run: RunName) -> bool:
        """Whether the token was good for this run before: to judge it again takes no time."""
        return _case(bearer, run) in self._remembered

    def check_operator(self, bearer: str) -> None:
        """Where no run is named yet."""
        self._operator.check(bearer)

    def admit_operator(self, bearer: str, run: RunName) -> None:
        if self._who(bearer, run) is not None:
            raise ForbiddenError("this is for the run's operator", "ask the operator to do it")

    def admit_reader(self, bearer: str, run: RunName) -> None:
        """The operator or any participant."""
        self._who(bearer, run)

    def admit_client(self, bearer: str, run: RunName, client: ClientName) -> Participant:
        """Nobody but the client that the path names."""
        participant = self._who(bearer, run)
        if participant is None or participant.client != client:
            raise ForbiddenError(f"this is for {client} only", "use your own name in the path")
        return participant

    def admit_client_or_operator(self, bearer: str, run: RunName, client: ClientName) -> None:
        if not self._operator.matches(bearer):
            self.admit_client(bearer, run, client)

    def _who(self, bearer: str, run: RunName) -> Participant | None:
        """None for the operator."""
        case = _case(bearer, run)
        try:
            token = self._remembered[case]
        except KeyError:
            token = self._judge(bearer, run)
            self._remember(case, token)
        if token is None:
            return None
        token.check_time(self._clock.now())
        self._calls.take(f"{token.iss}/{token.key}/{token.sub}")
        return Participant(token.sub, token.cnf.jwk.x)

    def _judge(self, bearer: str, run: RunName) -> AccessToken | None:
        is_operator = self._operator.matches(bearer)
        if not is_operator:
            self._check_claim(bearer)
        document = self._documents.of(run)
        return None if is_operator else self._verify(bearer, document)

    def _check_claim(self, bearer: str) -> None:
        """Whatever is no access token learns nothing, not even which runs there are. A signature
        can only be checked where a run names its key server: clients may come before their run."""
        try:
            claimed = unverified(bearer, AccessToken)
        except UntrustedError:
            raise UnauthenticatedError(
                "this is neither the operator's token nor an access token",
                "use the token of this service's operator, or get one from the key server",
            ) from None
        claimed.check_time(self._clock.now())

    def _remember(self, case: _Case, token: AccessToken | None) -> None:
        with self._lock:
            self._remembered[case] = token
            if len(self._remembered) > self._most_remembered:
                self._remembered.popitem(last=False)

    def _verify(self, bearer: str, document: FrozenDocument) -> AccessToken:
        key = document.content.key
        verifier = TokenVerifier(signing_key(key.signing_key), AGGREGATOR)
        token = verifier.verify(bearer, self._clock.now())
        if token.key != key.key:
            raise ForbiddenError(
                f"this access token is for key {token.key}, the run uses {key.key}",
                f"enrol for key {key.key}",
            )
        return token


def _case(bearer: str, run: RunName) -> _Case:
    return hashlib.sha256(bearer.encode()).digest(), run
