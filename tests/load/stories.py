"""Rounds as an aggregator tells them: three clients, each with its own numbers."""

from typing import Any

from experiments.load.interface import Told
from experiments.load.setting import Setting
from experiments.load.summary import Ending, Endings, Watched
from experiments.load.usage import Sample
from fedperm.wire.aggregator import RoundReport

CLIENTS = "ada", "ben", "cleo"
SETTING = Setting(clients=3, rounds=2, k1=4, k2=1, parameters=8, deadline_seconds=60.0)
MIB = 1 << 20

DONE = Ending(exit_code=0, restarts=0)
UP = Ending(exit_code=None, restarts=0)
ALL_DONE = Endings(DONE, (DONE, DONE, DONE), (UP, UP))

SAMPLES = (
    Sample(at=99.0, cpu_seconds=1.0, memory_bytes=50 * MIB),
    Sample(at=120.0, cpu_seconds=4.0, memory_bytes=80 * MIB),
    Sample(at=161.0, cpu_seconds=7.5, memory_bytes=60 * MIB),
)

WATCHED = Watched(SAMPLES, SAMPLES[1:])


def update(client: str, state: str = "included") -> dict[str, Any]:
    norms = {"norm_before": 1.0, "norm_after": 1.0, "bounded": False}
    told = {
        "kind": "update",
        "client": client,
        "state": state,
        "reason": "",
        "size": 100,
        "received_at": 105.0,
    }
    return told | norms


def client_report(client: str, upload: float) -> dict[str, Any]:
    seconds = {"train": 1.0, "randomize": 2.0, "encrypt": 3.0, "upload": upload, "decrypt": 5.0}
    sizes = {"bytes_up": 1000 + int(upload), "bytes_down": 50}
    return {"client": client, "report": {"seconds": seconds, **sizes}}


def round_told(
    number: int,
    opened_at: float,
    uploads: tuple[float, ...],
    state: str = "published",
    states: tuple[str, ...] = ("included",) * 3,
) -> RoundReport:
    """Open for 8 seconds, folded in 2; `states` are those of the stored updates."""
    aggregate = {"sha256": "0" * 64, "size": 50, "contributors": 3}
    content = {
        "outcome": {
            "round": number,
            "state": state,
            "epoch": 1,
            "selected": CLIENTS,
            "included": CLIENTS,
            "aggregate": aggregate if state == "published" else None,
            "reason": "",
        },
        "phase": "",
        "collects": "",
        "asked": [],
        "opened_at": opened_at,
        "deadline_at": opened_at + 60,
        "extensions": 0,
        "sealed_at": opened_at + 8,
        "settled_at": opened_at + 10,
        "submissions": [update(*named) for named in zip(CLIENTS, states, strict=False)],
        "reports": [client_report(*named) for named in zip(CLIENTS, uploads, strict=False)],
        "seconds": {
            "open": 8.0,
            "fold": 2.0,
            "validation_cpu": 0.5,
            "folding_cpu": float(number),
            "rerandomising_cpu": 0.25,
        },
    }
    return RoundReport.model_validate(content)


TWO_ROUNDS = (round_told(1, 100.0, (1.0, 2.0, 6.0)), round_told(2, 150.0, (3.0, 4.0, 5.0)))

METRICS = """# HELP fedperm_http_requests_total Requests by method, route and status
# TYPE fedperm_http_requests_total counter
fedperm_http_requests_total{method="PUT",route="/v1/updates/{client}",status="201"} 6.0
fedperm_http_requests_total{method="PUT",route="/v1/updates/{client}",status="503"} 2.0
fedperm_http_requests_total{method="GET",route="/v1/task",status="503"} 7.0
fedperm_http_requests_created{method="GET",route="/v1/task",status="503"} 1.7e+09
"""


def told(*rounds: RoundReport, metrics: str = "") -> Told:
    return Told(rounds, metrics)
