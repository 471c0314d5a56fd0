"""A run ready to be sent: planned from a wish, or read from files."""

from dataclasses import dataclass
from pathlib import Path

from fedperm.api.key_server import KeyServerApi
from fedperm.durable_file import write_durably
from fedperm.errors import ParameterError
from fedperm.ids import RunName
from fedperm.run_document import FrozenDocument, KeySpec
from fedperm.wire.digest import sha256_of
from fedperm_cli.errors import DirectoryError
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.run.initial_model import starting_point
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.planning import PlannedRun, finished_run, plan_run
from fedperm_cli.run.specs import check, required

MODEL_SUFFIX = ".safetensors"


@dataclass(frozen=True)
class PreparedRun:
    """Everything that is sent to the aggregator but key epochs."""

    planned: PlannedRun
    initial_model: bytes

    @property
    def document(self) -> FrozenDocument:
        return self.planned.document

    def write(self, path: Path) -> None:
        """The document there, the initial model beside it."""
        try:
            write_durably(path, self.document.octets)
            write_durably(path.with_suffix(MODEL_SUFFIX), self.initial_model)
        except OSError as error:
            raise DirectoryError(
                f"cannot write {path}: {error.strerror}", "choose another file"
            ) from None


async def prepare(
    run: RunName, options: RunOptions, keys: KeyServerApi, operator: OperatorIdentity
) -> PreparedRun:
    """With the key's length and the key server's signing key, which anybody may read."""
    check(options)
    key = required("--key", options.key)
    status, identity = await keys.key(key), await keys.identity()
    spec = KeySpec(key=key, parameters=status.scheme.parameters, signing_key=identity.signing_key)
    start = starting_point(options)
    planned = plan_run(run, options, start.spec, spec, operator.keys)
    return PreparedRun(planned.signed_by(operator), start.body)


def read_prepared(
    run: RunName, document: Path, initial_model: Path, operator: OperatorIdentity
) -> PreparedRun:
    frozen = FrozenDocument(_read(document))
    if frozen.content.run != run:
        raise ParameterError(
            f"{document} is the document of run {frozen.content.run}",
            "use the run's own name, which is part of its document",
        )
    body = _read(initial_model)
    if sha256_of(body) != frozen.content.model.initial_sha256:
        raise ParameterError(
            f"{initial_model} is not the initial model of {document}",
            "give the file that was written together with it",
        )
    return PreparedRun(finished_run(frozen).signed_by(operator), body)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ParameterError(f"cannot read {path}: {error.strerror}", "check its path") from None
