"""From result files to the sections on robustness and time, and their pictures."""

import json
from dataclasses import asdict

from experiments.paper.records import Origin, Record, ResultFile
from experiments.robustness.figure import draw
from experiments.robustness.measured import RobustnessMeasurement
from experiments.robustness.report import section
from experiments.robustness.scene import Score
from experiments.robustness.setting import Attack, Defence, System, cases
from experiments.timing import figures as timing_figures
from experiments.timing import report as timing
from fedperm_cli.bench.paper import PaperSeconds
from fedperm_cli.bench.report import AggregateReport, CpuReport, EncryptReport, Ratios, Report
from fedperm_cli.bench.sweep import Axis, Place, Sweep, SweepPoint

ORIGIN = Origin(commit="abc", command="made up", cores=2, processor="Abacus", versions={})


def kept(name: str, settings: dict, result: dict) -> Record:
    return Record(
        name=name,
        settings=settings,
        result=result,
        finished_at="2026-01-01T00:00:00Z",
        cpu_seconds=1.0,
        origin=0,
    )


def score(attack: Attack, seed: int) -> Score:
    if attack is Attack.MASKS_1000:
        return Score(9.8, 0.0, stopped_in=1)
    return Score(80.0 + seed, 90.0 if attack is Attack.BOOSTED else 1.0)


def robustness() -> ResultFile:
    records = []
    for seed in (30, 31):
        measured = RobustnessMeasurement(System.LIGHT, Defence.CENTRED, seed, (3,), 20)
        scores = {
            case.name: asdict(score(case.attack, seed - 30)) for case in cases(System.LIGHT, (3,))
        }
        result = {"laplace_scale": 10.0, "smallest_client": 9, "scores": scores}
        records.append(kept(measured.name, dict(measured.settings), result))
    file = ResultFile(part="robustness", origins=[ORIGIN], records=records)
    return ResultFile.model_validate_json(file.model_dump_json())


def test_robustness_in_words_and_numbers(tmp_path):
    words = section(robustness())
    assert "| sign flipped | not measured | not measured | 80.5 ± 0.7 |" in words
    assert (
        "| backdoor, boosted | not measured | not measured | 80.5 ± 0.7 (backdoor 90.0) |" in words
    )
    assert "| masks hold 1000 for 1 | not measured | not measured | refused by all |" in words
    assert "29.7 times the largest movement" in words  # sqrt(1,762,000) / (sqrt(8,000) / 2)
    assert section(ResultFile(part="robustness")) == ""
    picture = draw(robustness(), tmp_path / "robustness.svg")
    assert "<svg" in picture.read_text()


def bench(encrypt: float) -> dict:
    """As `fedperm bench --json` prints it."""
    numbers = dict.fromkeys(Report.__dataclass_fields__, 1)
    report = Report(
        **numbers
        | {
            "encrypt": EncryptReport(0.5, encrypt - 0.01, 0.01),
            "validate": CpuReport(0.1),
            "aggregate": AggregateReport(2.0, 2.0, 1, 1, 1, 5e-6, 1.0),
            "rerandomise": CpuReport(0.5),
            "decrypt": CpuReport(0.2),
            "exact": True,
            "upload_bytes_per_client": 630_000,
            "download_bytes": 31_000,
            "peak_rss_bytes": 209 * 2**20,
            "phe_ratio": Ratios(encrypt=2493.0, aggregate=1923.0, decrypt=131.0),
            "paper_seconds": PaperSeconds(encrypt=52.2, aggregate=1260, decrypt=2.4),
        }
    )
    return json.loads(report.to_json())


def point(axis: Axis, **place: int) -> SweepPoint:
    base = {"k1": 100, "k2": 1, "d": 7850, "clients": 5}
    return SweepPoint(Place(axis, **(base | place)), 11, 0.17, 0.5, 0.1, exact=True)


def test_times_beside_the_papers(tmp_path):
    points = [point(axis) for axis in (Axis.K1, Axis.K2, Axis.CLIENTS)]
    points += [point(Axis.K1, k1=200), point(Axis.D, d=100_000, clients=2)]
    sweep = json.loads(Sweep(2048, tuple(points)).to_json())
    record = kept("light", {}, {"report": bench(0.8), "sweep": sweep})
    results = ResultFile(part="timing", origins=[ORIGIN], records=[record])
    results = ResultFile.model_validate_json(results.model_dump_json())
    words = timing.section(results)
    assert "Abacus (2 cores)" in words
    assert "| light: encryption, one client | 52.20 | 0.800 | 65 | 4,176 |" in words
    assert "| light: aggregation, 15 clients | 1,260.00 | 2.500 | 504 | 32,256 |" in words
    at = "k1 = 100, k2 = 1, d = 7,850, n = 5"
    assert f"| encryption against k1: {at} | 3.40 | 0.170 | 20 | 1,280 |" in words
    slower = "k1 = 100, k2 = 1, d = 100,000, n = 2"
    assert f"| decryption against d: {slower} | 1.01 | 0.100 | 10 | 646 |" in words
    pictures = timing_figures.draw(results, tmp_path)
    assert {path.name for path in pictures} == {
        f"time-against-{axis}.svg" for axis in ("k1", "k2", "d", "n")
    }
    assert "| encrypt the masks of a client, ahead of time | 0.790 | 2,493 |" in words
    assert "| upload and download of a client | 0.63 MB, 31 kB |  |" in words
    assert "| exact | yes |  |" in words
    assert timing.section(ResultFile(part="timing")) == ""
