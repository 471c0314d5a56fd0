"""A document is its operator's: signed by the key that it names, over the bytes as they are."""

import json
from random import Random
from typing import Any

import pytest

from fedperm.errors import ParameterError, UntrustedError
from fedperm.run_document import FrozenDocument
from fedperm.wire.signed import sign
from fedperm.wire.statements import DocumentSignature, Manifest
from fedperm_cli.operator.identity import OperatorIdentity
from tests.documents import test_first_version
from tests.documents.operator import IDENTITY
from tests.documents.test_run_document import DOCUMENT

OCTETS = json.dumps(DOCUMENT).encode()
SHA256 = FrozenDocument(OCTETS).sha256


def statement(**changes: Any) -> str:
    members = {"run": "demo", "document": SHA256} | changes
    return sign(DocumentSignature(**members), IDENTITY.signing)


def test_what_the_operator_signs_is_believed():
    IDENTITY.sign(FrozenDocument(OCTETS)).check_signature()
    FrozenDocument(OCTETS, statement()).check_signature()


def as_a_manifest() -> str:
    """The same key over another kind of statement."""
    members = {"run": "demo", "document": SHA256, "round": 1, "epoch": 1, "client": "ada"}
    return sign(Manifest(**members, sha256=SHA256, size=1), IDENTITY.signing)


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "no statement",
        statement(document="0" * 64),
        statement(run="other"),
        as_a_manifest(),
        sign(
            DocumentSignature(run="demo", document=SHA256),
            OperatorIdentity.drawn(Random("somebody else")).signing,
        ),
    ],
    ids=["none", "text", "another document", "another run", "another kind", "another operator"],
)
def test_anything_else_is_not(signature):
    with pytest.raises(UntrustedError):
        FrozenDocument(OCTETS, signature).check_signature()


def test_a_document_of_an_older_version_has_no_operator_and_needs_no_signature():
    old = FrozenDocument(test_first_version.octets())
    assert old.content.operator is None
    old.check_signature()
    assert IDENTITY.sign(old).signature == ""


@pytest.mark.parametrize("changes", [{"operator": None}, {"protocol": "fedperm/2"}])
def test_operator_and_version_belong_together(changes):
    with pytest.raises(ParameterError, match="operator is a member of documents of fedperm/3"):
        FrozenDocument(json.dumps(DOCUMENT | changes).encode())


def test_nobody_signs_in_another_operators_name():
    somebody = OperatorIdentity.drawn(Random("somebody else"))
    with pytest.raises(ParameterError, match="demo names another operator") as refusal:
        somebody.sign(FrozenDocument(OCTETS))
    assert IDENTITY.keys.fingerprint in refusal.value.message
    assert somebody.keys.fingerprint in refusal.value.message
