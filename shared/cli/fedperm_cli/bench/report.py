"""The result of `fedperm bench`: this tree of dataclasses, field by field, is its JSON."""

import json
from dataclasses import asdict, dataclass

from fedperm_cli.bench.baseline import BaselineSeconds, estimate
from fedperm_cli.bench.experiment import Measurements
from fedperm_cli.bench.paper import PaperSeconds, paper_counts, paper_seconds


@dataclass(frozen=True)
class EncryptReport:
    """The table is made once per key; the rest is per client."""

    table_cpu_seconds: float
    offline_cpu_seconds: float
    online_cpu_seconds: float


@dataclass(frozen=True)
class AggregateReport:
    """Folding all clients.

    efficiency is modmuls * modmul_seconds / cpu_seconds. It is no share: where a fold splits its
    bases (`multi_exponentiation`), most multiplications have one factor of half the size and cost
    about 0.6 of modmul_seconds, yet count as one, so that it can exceed 1.
    half_size_modmuls says how many of them these are; split_bases how many bases were split for
    it, which costs four multiplications and a division modulo n each and is in no count.
    """

    cpu_seconds: float
    wall_seconds: float
    modmuls: int
    half_size_modmuls: int
    split_bases: int
    modmul_seconds: float
    efficiency: float


@dataclass(frozen=True)
class CpuReport:
    cpu_seconds: float


@dataclass(frozen=True)
class Ratios:
    """python-paillier's estimated CPU time over ours."""

    encrypt: float
    aggregate: float
    decrypt: float


@dataclass(frozen=True)
class Report:
    k1: int
    k2: int
    d: int
    clients: int
    key_bits: int
    value_bits: int
    slot_bits: int
    slots: int
    groups: int
    ciphertexts_per_client: int
    upload_bytes_per_client: int
    download_bytes: int
    encrypt: EncryptReport
    validate: CpuReport
    aggregate: AggregateReport
    rerandomise: CpuReport
    decrypt: CpuReport
    peak_rss_bytes: int
    exact: bool
    phe_ratio: Ratios
    paper_seconds: PaperSeconds | None

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def baseline_seconds(measured: Measurements) -> BaselineSeconds:
    plan = measured.plan
    return estimate(measured.baseline, paper_counts(plan.geometry, plan.layout.clients))


def build_report(measured: Measurements) -> Report:
    plan = measured.plan
    geometry, layout = plan.geometry, plan.layout
    facts = layout.facts
    return Report(
        k1=geometry.k1,
        k2=geometry.k2,
        d=geometry.d,
        clients=layout.clients,
        key_bits=facts["key_bits"],
        value_bits=plan.fixed_point.value_bits,
        slot_bits=facts["slot_bits"],
        slots=facts["slots"],
        groups=facts["groups"],
        ciphertexts_per_client=layout.costs(workers=1).ciphertexts,
        upload_bytes_per_client=measured.upload_bytes,
        download_bytes=measured.download_bytes,
        encrypt=_encrypt(measured),
        validate=CpuReport(measured.client.validate),
        aggregate=_aggregate(measured),
        rerandomise=CpuReport(measured.rerandomise_cpu_seconds),
        decrypt=CpuReport(measured.decrypt_cpu_seconds),
        peak_rss_bytes=measured.peak_rss_bytes,
        exact=measured.exact,
        phe_ratio=_ratios(measured),
        paper_seconds=paper_seconds(geometry, layout.clients, plan.scheme.key_bits),
    )


def _encrypt(measured: Measurements) -> EncryptReport:
    client = measured.client
    return EncryptReport(measured.table_cpu_seconds, client.offline, client.online)


def _aggregate(measured: Measurements) -> AggregateReport:
    work = measured.fold.work
    modmuls = work.counts["modmuls"]
    return AggregateReport(
        cpu_seconds=work.cpu_seconds,
        wall_seconds=measured.fold.wall_seconds,
        modmuls=modmuls,
        half_size_modmuls=work.counts["half_size_modmuls"],
        split_bases=work.counts["split_bases"],
        modmul_seconds=measured.modmul_seconds,
        efficiency=modmuls * measured.modmul_seconds / work.cpu_seconds,
    )


def _ratios(measured: Measurements) -> Ratios:
    baseline = baseline_seconds(measured)
    return Ratios(
        encrypt=baseline.encrypt / (measured.client.offline + measured.client.online),
        aggregate=baseline.aggregate / measured.fold.work.cpu_seconds,
        decrypt=baseline.decrypt / measured.decrypt_cpu_seconds,
    )
