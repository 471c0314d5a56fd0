"""The run's document: every parameter that the parties must agree on, frozen and hashed.

The operator writes it once. Its SHA-256, over the bytes exactly as they were sent, names it in
every message, so a run cannot change under anybody. From fedperm/3 on it names the run operator's
keys and travels with their signature. Key epochs stand beside it: keys rotate.
"""

import hashlib
from functools import cached_property
from typing import Annotated, Any, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, ValidationError, model_validator

from fedperm.axes import Axes
from fedperm.errors import FedPermError, ParameterError, UntrustedError
from fedperm.fixed_point import MAX_VALUE_BITS
from fedperm.noise.law import FINE_GRID
from fedperm.norm_bound import NormBound, NormForm
from fedperm.planner import Plan, plan
from fedperm.protocol import FIRST_PROTOCOL, PROTOCOL, Protocol, is_newer
from fedperm.schemes.scheme import MAX_CLIENTS, PublicKey, Scheme
from fedperm.uploads.form import UpdateTerms
from fedperm.uploads.registry import UPLOAD_FORMS
from fedperm.wire.body import Body
from fedperm.wire.message import (
    MOST_NAMED,
    KeyField,
    Lax,
    Many,
    Message,
    RunField,
    Sha256,
    place_of,
)
from fedperm.wire.public_keys import KeyText, SealingKeyText, fingerprint, signing_key
from fedperm.wire.signed import sign, verify
from fedperm.wire.statements import DocumentSignature, EpochRecord, Parameter, SchemeSpec
from fedperm.wire.strict_json import parse_json

DOCUMENT_SIGNATURE = "Fedperm-Document-Signature"
"""The header that carries a document's DocumentSignature, both ways."""

LONGEST_DOCUMENT = 1 << 18
"""Octets: a model of a thousand tensors has room."""
_WITHOUT_OPERATOR = {"fedperm/1", "fedperm/2"}
MOST_PARAMETERS = 1 << 28
"""Beyond this a single plan would not fit in memory; train a part of the model."""

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1, lt=1 << 40)]


class TensorSpec(Message):
    """One trainable tensor of the model; an empty shape is a single number."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    shape: Annotated[Many[Count], Field(max_length=64)]

    @property
    def size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size


class ModelSpec(Message):
    """What is trained: tensors in the order in which they are flattened, and where all start.

    `constants_sha256` is for what the model has beside them, the same at every client.
    """

    tensors: Annotated[Many[TensorSpec], Field(min_length=1, max_length=4096)]
    initial_sha256: Sha256
    constants_sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.parameters > MOST_PARAMETERS:
            raise ValueError(f"{self.parameters:,} parameters, at most {MOST_PARAMETERS:,}")
        return self

    @property
    def parameters(self) -> int:
        """d."""
        return sum(tensor.size for tensor in self.tensors)


class TaskSpec(Message):
    """Which data and model; the options are the task's own."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)


class TrainingSpec(Message):
    """How a client computes its update. `batch_size` null is the full batch; `record_clip_norm`
    is G of the record-level guarantee, for clients with at least `min_records` records."""

    learning_rate: Positive
    local_epochs: Count = 1
    batch_size: Count | None = None
    record_clip_norm: Positive | None = None
    min_records: Count = 1

    @model_validator(mode="after")
    def _one_full_step_where_records_are_protected(self) -> Self:
        if self.record_clip_norm is not None and (self.local_epochs, self.batch_size) != (1, None):
            raise ValueError(
                "record_clip_norm protects records in one full-batch step: "
                "set local_epochs 1 and batch_size null, or record_clip_norm null"
            )
        return self


class ShuffleSpec(Message):
    """Windows of k1 parameters, shuffled with k2 patterns in turn."""

    k1: Count
    k2: Count


class NoiseSpec(Message):
    """Clip C, Laplace scale b (0: no noise, no privacy), grid, and how privacy is reported."""

    clip: Positive
    laplace_scale: Annotated[float, Field(ge=0)]
    grid: Count = FINE_GRID
    accountant: str = "default"
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-5


class NormSpec(Message):
    """M, and which vector's norm it bounds."""

    limit: Positive
    form: Lax[NormForm] = NormForm.CENTRED


class RoundsSpec(Message):
    """When rounds open and close.

    A round asks `clients_per_round` of the clients that are online. It is sealed when all have
    answered, or at the deadline if `min_contributors` have; if not, it is extended, and after
    `extensions` of them aborted. So many aborted rounds in a row as `give_up_after` end the run.
    """

    count: Annotated[int, Field(ge=1, le=1_000_000)]
    clients_per_round: Annotated[int, Field(ge=1, le=MAX_CLIENTS)]
    min_contributors: Count
    start_with: Count
    deadline_seconds: Positive
    extension_seconds: Positive
    extensions: Annotated[int, Field(ge=0, le=1000)] = 1
    give_up_after: Count = 3

    @model_validator(mode="after")
    def _enough_clients(self) -> Self:
        if self.min_contributors > self.clients_per_round:
            raise ValueError("min_contributors exceeds clients_per_round")
        if self.start_with < self.min_contributors:
            raise ValueError("start_with is less than min_contributors: no round could succeed")
        return self


class KeySpec(Message):
    """The key's name, the parameters of its scheme, and whose signature makes a key epoch or an
    access token of this run."""

    key: KeyField
    parameters: Annotated[dict[str, Parameter], Field(max_length=16)]
    signing_key: KeyText


class OperatorKeys(Message):
    """The public halves of the run operator's keys: Ed25519 for what the operator signs, X25519 for
    what clients seal to the operator. The aggregator does not hold the other halves."""

    signing_key: KeyText
    sealing_key: SealingKeyText

    @property
    def fingerprint(self) -> str:
        """Of the signing key: what clients pin."""
        return fingerprint(self.signing_key)


class RunDocument(Message):
    """`insecure_for_tests` admits short keys and runs without a norm bound; every party has to
    admit it by a switch of its own as well. Documents of older versions have no `operator`."""

    protocol: Protocol = PROTOCOL
    run: RunField
    axes: Axes = Axes()
    task: TaskSpec
    model: ModelSpec
    training: TrainingSpec
    shuffle: ShuffleSpec
    noise: NoiseSpec
    value_bits: Annotated[int, Field(ge=1, le=MAX_VALUE_BITS)]
    norm_bound: NormSpec | None
    rounds: RoundsSpec
    key: KeySpec
    operator: OperatorKeys | None = None
    local_metrics: bool = False
    insecure_for_tests: bool = False

    @model_validator(mode="before")
    @classmethod
    def _of_another_version(cls, members: Any) -> Any:
        """Documents of the first version are hashed as they are: what they left out was the one
        choice there was. One of a newer version is refused by its name, and not by a list of
        members that are unknown here; pydantic lets a ParameterError through."""
        if not isinstance(members, dict):
            return members
        word = members.get("protocol")
        if is_newer(word):
            raise ParameterError(
                f"the run's document is of {word}, this program knows versions up to {PROTOCOL}",
                "upgrade this program",
            )
        if word != FIRST_PROTOCOL:
            return members
        key = members.get("key")
        if isinstance(key, dict) and "key_bits" in key and "axes" not in members:
            rest = {name: key[name] for name in key.keys() - {"key_bits"}}
            return {**members, "key": {**rest, "parameters": {"key_bits": key["key_bits"]}}}
        raise ValueError("a document of fedperm/1 has key.key_bits and no axes")

    @model_validator(mode="after")
    def _has_an_operator_since_the_third_version(self) -> Self:
        if (self.operator is None) != (self.protocol in _WITHOUT_OPERATOR):
            raise ValueError("operator is a member of documents of fedperm/3, and of no older ones")
        return self

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        try:
            self._check_norm_bound()
        except FedPermError as error:
            raise ValueError(str(error)) from None
        return self

    @cached_property
    def scheme(self) -> Scheme:
        return self.scheme_spec.scheme(insecure_for_tests=self.insecure_for_tests)

    @property
    def scheme_spec(self) -> SchemeSpec:
        """As the run's key epochs must state it."""
        return SchemeSpec(name=self.axes.scheme, parameters=self.key.parameters)

    @cached_property
    def plan(self) -> Plan:
        """Shapes and arithmetic of all messages of this run."""
        return plan(
            d=self.model.parameters,
            k1=self.shuffle.k1,
            k2=self.shuffle.k2,
            clients=self.rounds.clients_per_round,
            laplace_scale=self.noise.laplace_scale,
            scheme=self.scheme,
            value_bits=self.value_bits,
        )

    @cached_property
    def update_body(self) -> Body:
        """The layout of every upload of this run."""
        return Body(UPLOAD_FORMS[self.axes.uploads].tensors(self.plan))

    def check_record(self, record: EpochRecord) -> None:
        """Refuses a key epoch of another scheme, other parameters or other holders."""
        if (record.scheme, record.keys) != (self.scheme_spec, self.axes.keys):
            raise UntrustedError(
                f"epoch {record.epoch} of key {record.key} is of {record.scheme}, {record.keys}; "
                f"the run is under {self.scheme_spec}, {self.axes.keys}",
                "the run operator must put the records of the run's own key beside it",
            )

    def terms(self, public_key: PublicKey) -> UpdateTerms:
        """What updates under this key must be."""
        half = self.scheme.public_half(public_key, self.plan.layout)
        return UpdateTerms(UPLOAD_FORMS[self.axes.uploads], self.plan, self.bound, half)

    @cached_property
    def bound(self) -> NormBound | None:
        if self.norm_bound is None:
            return None
        return NormBound(self.norm_bound.limit, self.norm_bound.form)

    def _check_norm_bound(self) -> None:
        if self.bound is not None:
            self.bound.check_rounding(self.plan.geometry.padded_d, self.plan.fixed_point)
        elif not self.insecure_for_tests:
            raise ParameterError("the run has no norm bound", "set norm_bound")


class FrozenDocument:
    """A document together with its bytes, their hash, and the operator's signature, which is empty
    where nobody has signed it."""

    def __init__(self, octets: bytes, signature: str = "") -> None:
        self.octets = octets
        self.signature = signature
        self.sha256 = hashlib.sha256(octets).hexdigest()
        self.content = _parse(octets)

    @classmethod
    def of(cls, document: RunDocument) -> "FrozenDocument":
        return cls(document.model_dump_json(indent=2).encode())

    def signed_with(self, key: Ed25519PrivateKey) -> "FrozenDocument":
        """The same with a signature: by the key that it names, or nobody will believe it."""
        statement = DocumentSignature(run=self.content.run, document=self.sha256)
        return FrozenDocument(self.octets, sign(statement, key))

    def check_signature(self) -> None:
        """By the operator whom the document names. An older document names none and has none:
        whoever pins the operator refuses it."""
        operator = self.content.operator
        if operator is None:
            return
        statement = verify(self.signature, DocumentSignature, signing_key(operator.signing_key))
        if (statement.run, statement.document) != (self.content.run, self.sha256):
            raise UntrustedError(
                f"the signature beside the document of run {self.content.run} is of another one",
                "get the document again; if it stays so, ask the run's operator",
            )


def _parse(octets: bytes) -> RunDocument:
    if len(octets) > LONGEST_DOCUMENT:
        raise ParameterError(
            f"the document has {len(octets):,} octets", f"keep it below {LONGEST_DOCUMENT:,}"
        )
    try:
        parse_json(octets)
        return RunDocument.model_validate_json(octets)
    except ValidationError as error:
        wrong = "; ".join(
            f"{place_of(e) or 'document'}: {e['msg']}" for e in error.errors()[:MOST_NAMED]
        )
        raise ParameterError(f"the run's document is wrong: {wrong}", "correct it") from None
    except ValueError as error:
        raise ParameterError(f"the run's document is wrong: {error}", "correct it") from None
