"""Documents of runs with noise, without a server to put them on."""

from typing import Any

from fedperm.run_document import RunDocument
from tests.aggregator.parties import KeyServer, ManualClock, document_of

SERVER = KeyServer(ManualClock(), {})


def document(**changes: Any) -> RunDocument:
    members = {"noise": {"clip": 0.1, "laplace_scale": 0.5}, "norm_bound": {"limit": 100.0}}
    return document_of(SERVER, **(members | changes)).content
