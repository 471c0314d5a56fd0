"""The run operator of tests, whose signature their documents have."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import httpx

from fedperm.run_document import DOCUMENT_SIGNATURE, FrozenDocument, RunDocument
from fedperm.wire.aggregator import RoundReport
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.reports import ReportOpener

IDENTITY = OperatorIdentity.drawn(Random("the run operator of tests"))
OPERATOR_KEYS = IDENTITY.keys.model_dump()
"""The member `operator` of a document."""


def signed(document: RunDocument) -> FrozenDocument:
    return IDENTITY.sign(FrozenDocument.of(document))


def read_by_operator(report: RoundReport, frozen: FrozenDocument) -> RoundReport:
    """With everything in it that clients sealed to this operator; nothing else may be there."""
    read = ReportOpener.of(frozen, IDENTITY).open(report)
    assert read.wrong == ()
    return read.report


def signature_of(octets: bytes, operator: OperatorIdentity = IDENTITY) -> dict[str, str]:
    """The header that travels with a document."""
    return {DOCUMENT_SIGNATURE: FrozenDocument(octets).signed_with(operator.signing).signature}


def another_operators(
    change: Callable[[dict[str, Any]], None],
) -> Callable[[bytes], httpx.Response]:
    """A forgery of a document: changed, and signed by an operator of the forger's own making, whom
    it names."""
    forger = OperatorIdentity.drawn(Random("somebody else"))

    def forge(octets: bytes) -> httpx.Response:
        members = json.loads(octets)
        members["operator"] = forger.keys.model_dump()
        change(members)
        changed = json.dumps(members).encode()
        return httpx.Response(200, content=changed, headers=signature_of(changed, forger))

    return forge
