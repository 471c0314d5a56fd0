"""Recorded clients: what they sent, replayed in the clear, gives the model that they hold."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial

import pytest

from experiments.accuracy.setting import Recipe
from experiments.encrypted.figures import EncryptedResult, RoundFigures
from experiments.encrypted.recording import Notebook, RecordingAggregator, RememberingRandom
from experiments.encrypted.replay import replayed
from experiments.encrypted.report import section
from experiments.paper.records import ResultFile
from fedperm.errors import UnreachableError
from fedperm.wire.model import decode_model
from tests.client.cut_line import request_of
from tests.client.documents import DIGITS, document
from tests.client.federation import Federation, Home, drive
from tests.keyserver.server import MovingClock

NAMES = ("ada", "ben", "cleo")
ROUNDS = (1, 2)


@pytest.fixture
def federation(tmp_path) -> Iterator[Federation]:
    federation = Federation(tmp_path, MovingClock())
    yield federation
    federation.close()


def notebook_of(home: Home) -> Notebook:
    return Notebook(home.state / "recorded")


@pytest.mark.anyio
async def test_recorded_integers_give_the_model_of_the_clients(federation):
    rounds = document().rounds.model_dump() | {"count": len(ROUNDS)}
    wanted = document(shuffle={"k1": 150, "k2": 2}, rounds=rounds)
    content = (await federation.start(wanted=wanted)).content
    homes = await federation.homes(*NAMES, accountant="no-shuffle-rdp")
    homes[0].to_aggregator.after.append(request_of("PUT", "/updates/ada"))  # it is sent twice
    with ExitStack() as living:
        clients = []
        for home in homes:
            generator = RememberingRandom()
            api = partial(RecordingAggregator, notebook=notebook_of(home), randomness=generator)
            clients.append(living.enter_context(home.client(randomness=generator, api=api)))
        await drive_through(federation, clients)
    coded = [
        [notebook_of(home).read(number).coded(content.plan.geometry) for home in homes]
        for number in ROUNDS
    ]
    initial = decode_model(DIGITS.body, content.model.parameters)
    held = [record.parameters_sha256 for record in homes[0].summary.history]
    assert list(replayed(content, initial, coded)) == held
    coded[0][1][0, 0] ^= 1
    assert all(a != b for a, b in zip(replayed(content, initial, coded), held, strict=True))


async def drive_through(federation, clients):
    """The first answer is lost; whoever asked asks again."""
    with pytest.raises(UnreachableError, match="cut"):
        await drive(federation, *clients)
    await drive(federation, *clients)


def figures(**changes) -> RoundFigures:
    counts = {"round": 1, "contributors": 15, "bounded": 0}
    octets = {"bytes_up": 9_450_000, "bytes_down": 465_000}
    seconds = dict.fromkeys(RoundFigures.__dataclass_fields__, 1.0)
    return RoundFigures(**(seconds | counts | octets | changes))


def result(**changes) -> EncryptedResult:
    members = {
        "clients": 15,
        "key_bits": 2048,
        "parameters": 7850,
        "k1": 400,
        "k2": 1,
        "value_bits": 11,
        "laplace_scale": 11.36,
        "smallest_client": 1500,
        "identical": True,
        "seconds": 100.0,
        "model_sha256": "ab" * 32,
        "rounds": (figures(accuracy=61.25), figures(round=2, accuracy=70.5)),
    }
    return EncryptedResult(**(members | changes))


def kept(one: EncryptedResult) -> ResultFile:
    """As it is read from a file."""
    settings = {"recipe": asdict(Recipe(learning_rate=0.1, batch_size=64, clip=0.002))}
    record = {"name": "light", "settings": settings, "result": asdict(one), "finished_at": ""}
    written = {"part": "encrypted", "records": [record | {"cpu_seconds": 1.0, "origin": 0}]}
    return ResultFile.model_validate_json(json.dumps(written))


def test_the_section_says_whether_the_simulation_agrees():
    words = section(kept(result()))
    assert "the same model to the last bit" in words
    assert "learning rate 0.1, batches of 64, update cut to 0.002" in words
    assert "| 1 | 61.25 % |" in words
    assert "| 2 | 70.50 % |" in words
    assert "| 9.45 |" in words
    assert "ANOTHER MODEL" in section(kept(result(identical=False)))
    assert section(ResultFile(part="encrypted")) == ""
