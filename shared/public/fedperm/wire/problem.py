"""Errors on the wire: RFC 9457 problem documents, and the one table from errors to them.

`type` is stable: programs may compare it. `detail` and `hint` are for people.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from fedperm import errors

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:fedperm:problem:"


class Problem(BaseModel):
    """Unknown members are ignored: other parties may say more."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str = "about:blank"
    title: str = ""
    status: int
    detail: str = ""
    hint: str = ""
    request_id: str = ""
    errors: Annotated[tuple[dict[str, Any], ...], Field(exclude_if=lambda e: not e)] = ()

    @property
    def kind(self) -> str:
        """The last part of the type."""
        return self.type.removeprefix(TYPE_PREFIX)


@dataclass(frozen=True)
class ProblemKind:
    kind: str
    status: int
    title: str

    def problem(self, detail: str, hint: str, request_id: str = "") -> Problem:
        return Problem(
            type=TYPE_PREFIX + self.kind,
            title=self.title,
            status=self.status,
            detail=detail,
            hint=hint,
            request_id=request_id,
        )


UNKNOWN_PATH = ProblemKind("unknown-path", 404, "There is no such path")
METHOD_NOT_ALLOWED = ProblemKind("method-not-allowed", 405, "The path does not take this method")
INTERNAL = ProblemKind("internal-error", 500, "Something went wrong here")
INVALID = ProblemKind("invalid-request", 422, "The request makes no sense")

PROBLEMS: dict[type[errors.FedPermError], ProblemKind] = {
    errors.ParameterError: ProblemKind("wrong-parameters", 422, "The parameters are impossible"),
    errors.KeyStrengthError: ProblemKind("wrong-key", 422, "The key is not acceptable"),
    errors.MessageError: ProblemKind("wrong-message", 422, "The message is not acceptable"),
    errors.BodyError: ProblemKind("wrong-body", 422, "The body is not the one expected"),
    errors.UntrustedError: ProblemKind("untrusted", 422, "A signature or promise does not hold"),
    errors.InvalidRequestError: INVALID,
    errors.UnauthenticatedError: ProblemKind("unauthenticated", 401, "No valid credential"),
    errors.ForbiddenError: ProblemKind("forbidden", 403, "The credential is not for this"),
    errors.EarlierEpochError: ProblemKind("earlier-epoch", 403, "From before the enrolment"),
    errors.UnknownResourceError: ProblemKind("unknown-resource", 404, "There is no such thing"),
    errors.ConflictError: ProblemKind("conflict", 409, "This contradicts what was accepted"),
    errors.TamperedError: ProblemKind("tampered", 409, "What is stored here does not hold"),
    errors.GoneError: ProblemKind("gone", 410, "Too late"),
    errors.LengthRequiredError: ProblemKind("length-required", 411, "State the body's length"),
    errors.BodyTooLargeError: ProblemKind("body-too-large", 413, "The body is too long"),
    errors.MediaTypeError: ProblemKind("media-type", 415, "The body is of another type"),
    errors.RateLimitError: ProblemKind("rate-limit", 429, "Too many requests"),
    errors.SealedError: ProblemKind("sealed", 503, "The key server is sealed"),
    errors.BusyError: ProblemKind("busy", 503, "Try again soon"),
    errors.StorageFullError: ProblemKind("storage-full", 507, "No room left"),
}


def kind_of(error: errors.FedPermError) -> ProblemKind:
    """The nearest entry of the table; an error of no entry is this party's own fault."""
    for ancestor in type(error).__mro__:
        if ancestor in PROBLEMS:
            return PROBLEMS[ancestor]
    return INTERNAL
