"""From a finished federation to its figures, and whether the simulation agrees."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from experiments.encrypted.recording_client import notebook_in
from experiments.encrypted.replay import replayed
from fedperm.wire.aggregator import RoundReport
from fedperm.wire.model import decode_model
from fedperm_cli.demo.federation import DemoRun
from fedperm_cli.federation.folder import FederationFolder
from fedperm_cli.run.round_summary import summarise
from fedperm_client.summary import Summary


@dataclass(frozen=True)
class RoundFigures:
    """Seconds on the wall: of clients the mean, of the aggregator from sealing to publishing;
    `*_cpu` are CPU seconds of all its workers together. Octets of all clients together."""

    round: int
    contributors: int
    bounded: int
    accuracy: float
    train: float
    randomize: float
    encrypt: float
    upload: float
    fold: float
    decrypt: float
    validation_cpu: float
    folding_cpu: float
    rerandomising_cpu: float
    total: float
    bytes_up: int
    bytes_down: int


@dataclass(frozen=True)
class EncryptedResult:
    """`identical`: every client's model after every round is the replayed one, bit by bit."""

    clients: int
    key_bits: int
    parameters: int
    k1: int
    k2: int
    value_bits: int
    laplace_scale: float
    smallest_client: int
    identical: bool
    seconds: float
    model_sha256: str
    rounds: tuple[RoundFigures, ...]


def judge(run: DemoRun, folder: FederationFolder) -> EncryptedResult:
    document = run.prepared.document.content
    expected = _replayed(run, folder)
    held = {_held(folder, client) for client in run.clients}
    return EncryptedResult(
        clients=len(run.clients),
        key_bits=document.scheme.key_bits,
        parameters=document.model.parameters,
        k1=document.shuffle.k1,
        k2=document.shuffle.k2,
        value_bits=document.value_bits,
        laplace_scale=document.noise.laplace_scale,
        smallest_client=document.training.min_records,
        identical=held == {expected},
        seconds=run.seconds,
        model_sha256=expected[-1],
        rounds=tuple(_figures(report) for report in run.rounds),
    )


def _replayed(run: DemoRun, folder: FederationFolder) -> tuple[str, ...]:
    document = run.prepared.document.content
    initial = decode_model(run.prepared.initial_model, document.model.parameters)
    geometry = document.plan.geometry
    by_name = {_summary(folder, client).client: client for client in run.clients}
    rounds = [
        [
            notebook_in(folder.state(by_name[name])).read(report.outcome.round).coded(geometry)
            for name in report.outcome.included
        ]
        for report in run.rounds
    ]
    return tuple(replayed(document, initial, rounds))


def _held(folder: FederationFolder, client: str) -> tuple[str, ...]:
    """The hashes of a client's model, round by round."""
    return tuple(record.parameters_sha256 for record in _summary(folder, client).history)


def _summary(folder: FederationFolder, client: str) -> Summary:
    return Summary.model_validate_json((folder.state(client) / "summary.json").read_text())


def _figures(report: RoundReport) -> RoundFigures:
    summary, cpu = summarise(report), report.seconds
    phases = summary.seconds
    return RoundFigures(
        round=summary.round,
        contributors=summary.included,
        bounded=summary.bounded,
        accuracy=100 * (summary.accuracy or 0.0),
        train=phases.train,
        randomize=phases.randomize,
        encrypt=phases.encrypt,
        upload=phases.upload,
        fold=phases.fold,
        decrypt=phases.decrypt,
        validation_cpu=cpu.validation_cpu,
        folding_cpu=cpu.folding_cpu,
        rerandomising_cpu=cpu.rerandomising_cpu,
        total=summary.total_seconds or 0.0,
        bytes_up=summary.bytes_up,
        bytes_down=summary.bytes_down,
    )


def mean_of(rounds: Sequence[RoundFigures], phase: str) -> float:
    return fmean(getattr(figures, phase) for figures in rounds)
