"""What can go wrong, grouped by who has to act.

FedPermError
├── ParameterError          whoever wrote the run's parameters
├── KeyStrengthError        whoever chose or imported the key
├── MessageError            whoever sent the message
│   ├── BodyError             its header or size is not the one expected
│   ├── ValueRangeError       a shuffled value needs more than B bits
│   └── CiphertextError       not an element of the group (0, >= n^2, or not a unit)
│       └── SharedFactorError   its sender can tell the secret key: rotate
├── PrivacyError            whoever set the privacy parameters
│   ├── UnknownEventError     an accountant was asked to count what it does not know
│   ├── PreconditionError     a bound does not hold for these parameters
│   ├── BudgetError           the client's ledger refuses a round
│   └── LedgerError           the ledger is damaged, or not the one for this budget
├── TooManyClientsError     the aggregator: more contributions than slots were planned for
├── AggregateError          the aggregator: what it published fails the client's checks
├── BlobError               whoever operates the storage: a stored blob is missing or damaged
├── TamperedError           whoever operates the key server: its database was changed from outside
├── SettingsError           whoever starts the program
├── RequestError            whoever sent the request
│   ├── InvalidRequestError   its content makes no sense
│   ├── UnauthenticatedError  no credential, or one that is not valid here and now
│   ├── ForbiddenError        a valid credential of somebody else
│   │   └── EarlierEpochError   a key from before the client was enrolled
│   ├── UnknownResourceError  there is no such thing
│   ├── ConflictError         it contradicts what was accepted before
│   ├── GoneError             it came too late
│   ├── LengthRequiredError   its length is not stated
│   ├── BodyTooLargeError     its body is longer than any right one
│   ├── MediaTypeError        its body is compressed, or of another type
│   └── RateLimitError        too many of them
├── ServiceError            whoever operates the service
│   ├── SealedError           the key-encryption key is missing
│   ├── BusyError             try again soon
│   └── StorageFullError      no room left; nothing was accepted
└── PeerError               another party's answer, as this party sees it
    ├── RefusedError          it refused, with a problem
    ├── UnreachableError      it did not answer
    └── UntrustedError        its answer fails a check: a signature, a fingerprint, a promise
"""

from collections.abc import Mapping
from typing import Any


class FedPermError(Exception):
    """Base of all errors raised on purpose: what was wrong, and what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A worker process hands it on as it is, whatever its class takes to be made; an error that
        cannot be unpickled would take the whole pool down."""
        return _as_it_was, (type(self), vars(self))


def _as_it_was(kind: type[FedPermError], members: Mapping[str, Any]) -> FedPermError:
    error = kind.__new__(kind, members["message"])
    vars(error).update(members)
    return error


class ParameterError(FedPermError):
    """A parameter is impossible on its own or together with the others."""


class KeyStrengthError(FedPermError):
    """A key is too short, of an unusual size, or not what a Paillier key must be."""


class MessageError(FedPermError):
    """A message from another party was refused; nothing of it was used."""


class BodyError(MessageError):
    """The body's header, shape, type or length is not exactly the expected one."""


class ValueRangeError(MessageError):
    """A shuffled value lies outside [0, 2^B)."""


class CiphertextError(MessageError):
    """A ciphertext is not an invertible number modulo n^2.

    Its message never carries the number: one that shares a factor with n *is* the secret key.
    """


class SharedFactorError(CiphertextError):
    """A ciphertext shares a factor with n: whoever sees it can compute the secret key."""


class PrivacyError(FedPermError):
    """A privacy guarantee cannot be given; nothing was counted."""


class UnknownEventError(PrivacyError):
    """An accountant refuses to count an event it does not know."""


class PreconditionError(PrivacyError):
    """A bound's precondition fails: it says nothing here, and is not extrapolated."""


class BudgetError(PrivacyError):
    """A round would pass the client's privacy budget; it was neither charged nor sent."""


class LedgerError(PrivacyError):
    """The privacy ledger cannot be trusted; it is refused, never reset."""


class TooManyClientsError(FedPermError):
    """More contributions than the slots have room for: a sum could carry into its neighbour."""


class AggregateError(FedPermError):
    """A published aggregate fails the receiving client's checks; carries no decrypted value."""


class BlobError(FedPermError):
    """A stored blob is missing, damaged or shorter than what was asked for. No sender's fault, so
    not a MessageError; not passing by itself either, so not a ServiceError."""


class TamperedError(FedPermError):
    """Stored rows are not as the service wrote them. Does not pass by itself, so no ServiceError.
    What is wrong is for the operator: it is no part of the message."""

    def __init__(self, message: str, hint: str, *, table: str, row: str, why: str) -> None:
        super().__init__(message, hint)
        self.table = table
        self.row = row
        self.why = why


class SettingsError(FedPermError):
    """A setting is missing, unknown or impossible."""


class RequestError(FedPermError):
    """A request was refused; nothing of it was used."""


class InvalidRequestError(RequestError):
    """What was sent is understood and makes no sense."""


class UnauthenticatedError(RequestError):
    """No credential, or one that is not valid here and now."""


class ForbiddenError(RequestError):
    """The credential is valid, and not for this."""


class EarlierEpochError(ForbiddenError):
    """The key is of an epoch from before the client was enrolled: what was encrypted under it was
    not for this client."""


class UnknownResourceError(RequestError):
    """There is no such thing."""


class ConflictError(RequestError):
    """The request contradicts what was accepted before."""


class GoneError(RequestError):
    """The request came too late."""


class LengthRequiredError(RequestError):
    """The length of the body must be stated: it is known in advance."""


class BodyTooLargeError(RequestError):
    """The body is longer than any right one."""


class MediaTypeError(RequestError):
    """The body is compressed, or not of the type that the endpoint takes."""


class RateLimitError(RequestError):
    """Too many requests of one kind."""

    def __init__(self, message: str, hint: str, retry_after_seconds: float) -> None:
        super().__init__(message, hint)
        self.retry_after_seconds = retry_after_seconds


class ServiceError(FedPermError):
    """The service cannot do it now; nothing was accepted."""


class SealedError(ServiceError):
    """The key server has no key-encryption key, or not the one of its database."""


class BusyError(ServiceError):
    """The service is at its limits for the moment."""


class StorageFullError(ServiceError):
    """No room left; nothing was accepted."""


class PeerError(FedPermError):
    """What another party answered, or failed to answer."""


class RefusedError(PeerError):
    """The other party refused, with a problem document."""

    def __init__(self, message: str, hint: str, *, status: int, kind: str) -> None:
        super().__init__(message, hint)
        self.status = status
        self.kind = kind


class UnreachableError(PeerError):
    """No answer, or not one of FedPerm's."""


class UntrustedError(PeerError):
    """An answer that fails a check. It was not used."""
