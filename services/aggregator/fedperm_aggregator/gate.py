"""Who may do what: the operator by a secret, participants by their key server's signature."""

from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.errors import ForbiddenError
from fedperm.run_document import FrozenDocument
from fedperm.web.credentials import OperatorCredential, TokenVerifier
from fedperm.wire.public_keys import KeyText, signing_key
from fedperm.wire.statements import AccessToken, Audience
from fedperm_aggregator.documents import Documents


@dataclass(frozen=True)
class Participant:
    """A client as its access token names it; uploads are signed with `signing_key`."""

    client: str
    signing_key: KeyText


class Gate:
    """The signing key is in the run's document: no route to the key server is needed."""

    def __init__(self, operator: OperatorCredential, documents: Documents, clock: Clock) -> None:
        self._operator = operator
        self._documents = documents
        self._clock = clock

    def check_operator(self, bearer: str) -> None:
        """Where no run is named yet."""
        self._operator.check(bearer)

    def admit_operator(self, bearer: str, run: str) -> None:
        if self._who(bearer, run) is not None:
            raise ForbiddenError("this is for the run's operator", "ask the operator to do it")

    def admit_reader(self, bearer: str, run: str) -> None:
        """The operator or any participant."""
        self._who(bearer, run)

    def admit_client(self, bearer: str, run: str, client: str) -> Participant:
        """Nobody but the client that the path names."""
        participant = self._who(bearer, run)
        if participant is None or participant.client != client:
            raise ForbiddenError(f"this is for {client} only", "use your own name in the path")
        return participant

    def admit_client_or_operator(self, bearer: str, run: str, client: str) -> None:
        if not self._operator.matches(bearer):
            self.admit_client(bearer, run, client)

    def _who(self, bearer: str, run: str) -> Participant | None:
        """None for the operator."""
        document = self._documents.of(run)
        if self._operator.matches(bearer):
            return None
        token = self._verified(bearer, document)
        return Participant(token.sub, token.cnf.jwk.x)

    def _verified(self, bearer: str, document: FrozenDocument) -> AccessToken:
        key = document.content.key
        verifier = TokenVerifier(signing_key(key.signing_key), Audience.AGGREGATOR)
        token = verifier.verify(bearer, self._clock.now())
        if token.key != key.key:
            raise ForbiddenError(
                f"this access token is for key {token.key}, the run uses {key.key}",
                f"enrol for key {key.key}",
            )
        return token
