"""What can go wrong, grouped by who has to act.

FedPermError
├── ParameterError          whoever wrote the run's parameters
├── KeyStrengthError        whoever chose or imported the key
├── MessageError            whoever sent the message
│   ├── BodyError             its header or size is not the one expected
│   ├── ValueRangeError       a shuffled value needs more than B bits
│   └── CiphertextError       not an element of the group (0, >= n^2, or not a unit)
├── PrivacyError            whoever set the privacy parameters
│   ├── UnknownEventError     an accountant was asked to count what it does not know
│   ├── PreconditionError     a bound does not hold for these parameters
│   ├── BudgetError           the client's ledger refuses a round
│   └── LedgerError           the ledger is damaged, or not the one for this budget
├── TooManyClientsError     the aggregator: more contributions than slots were planned for
└── AggregateError          the aggregator: what it published fails the client's checks
"""


class FedPermError(Exception):
    """Base of all errors raised on purpose: what was wrong, and what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})"


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
