"""Whole runs with real servers in one process: what clients end with, and what they leave."""

import logging
from concurrent.futures import BrokenExecutor, Future
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from fedperm.run_document import RunDocument
from fedperm.wire.aggregator import Phase, RoundState, RunState
from fedperm.wire.digest import sha256_of
from fedperm.wire.key_server import TokenRequest
from fedperm.wire.model import encode_model
from fedperm.workers import Workers
from fedperm_aggregator.jobs.check import CheckJob
from fedperm_client.joining import UNCOUNTED_LOSS
from fedperm_secret.access import SECRET_KEY_ACCESS
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.documents import document, rounds
from tests.client.federation import KEY, Home, drive
from tests.core.federation import InlineExecutor
from tests.documents.operator import read_by_operator
from tests.keys.secrecy import pieces_shown
from tests.keyserver.member import Member
from tests.keyserver.server import OPERATOR as KEY_OPERATOR

pytestmark = pytest.mark.anyio


async def test_three_clients_finish_three_rounds_with_identical_parameters(federation):
    await federation.start()
    ada, ben, cleo = homes = await federation.homes("ada", "ben", "cleo")
    with ada.client() as one, ben.client() as two, cleo.client() as three:
        await drive(federation, one, two, three)
    summaries = [home.summary for home in homes]
    assert len({summary.parameters_sha256 for summary in summaries}) == 1
    for summary, home in zip(summaries, homes, strict=True):
        assert (summary.state, summary.rounds, summary.rounds_included) == (
            RunState.COMPLETED,
            3,
            3,
        )
        assert home.charges == 3
        assert not list((home.run_folder / "outbox").iterdir())
    histories = [[r.parameters_sha256 for r in summary.history] for summary in summaries]
    assert histories[0] == histories[1] == histories[2]
    assert len(set(histories[0])) == 3


async def test_a_finished_client_leaves_its_model_and_what_it_cost(federation):
    """Ben allows the run to hear of his training loss, Ada does not."""
    frozen = await federation.start(wanted=document(rounds=rounds(count=1), local_metrics=True))
    ada = await federation.home("ada")
    ben = await federation.home("ben", allow_local_metrics=True)
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    check_summary(ada, frozen.content)
    report = await federation.aggregator.api.round_report("demo", 1, RUN_OPERATOR)
    reports = {
        named.client: named.report.measured for named in read_by_operator(report, frozen).reports
    }
    assert reports["ada"].test == reports["ben"].test == ada.summary.test
    assert reports["ada"].train_loss is None
    assert reports["ben"].train_loss > 0
    assert UNCOUNTED_LOSS in ben.summary.privacy["notes"]
    assert UNCOUNTED_LOSS not in ada.summary.privacy["notes"]


def check_summary(home: Home, content: RunDocument) -> None:
    summary = home.summary
    tensors = safetensors.numpy.load_file(summary.model)
    values = np.concatenate([tensors[tensor.name].ravel() for tensor in content.model.tensors])
    assert sha256_of(encode_model(values)) == summary.parameters_sha256
    assert summary.privacy["rows"]["paper_unit"]["epsilon"] == pytest.approx(summary.epsilon_spent)
    assert summary.bytes_up == len(*home.uploads(1))
    assert summary.seconds.train > 0
    assert summary.test == summary.history[-1].report.test


async def test_the_secret_key_is_nowhere_on_disk_or_in_the_log(federation, clock, caplog):
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    with (
        caplog.at_level(logging.DEBUG),
        ada.client() as one,
        ben.client() as two,
    ):
        await drive(federation, one, two)
    minted = await federation.key_server.api.mint_token(KEY, TokenRequest(), KEY_OPERATOR)
    member = Member(federation.key_server, clock, KEY)
    await member.enrol(minted.token)
    key = await member.secret_key(1)
    files = [path.read_bytes() for path in ada.state.rglob("*") if path.is_file()]
    assert sum(map(len, files)) > 1000
    for octets in (*files, caplog.text.encode()):
        assert not pieces_shown(octets.decode("latin-1"), key)
        for prime in key.factors(SECRET_KEY_ACCESS):
            assert prime.to_bytes(32, "big") not in octets
            assert prime.to_bytes(32, "little") not in octets


async def test_a_late_joiner_replays_all_rounds_under_old_and_new_keys(federation):
    """Two clients settle a round, the key is rotated, they settle another; then a third comes."""
    await federation.start_lines(rounds=rounds(count=3))
    ada, ben, cleo = homes = await federation.line_homes("ada", "ben", "cleo")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=1)
        await federation.key_server.api.create_epoch(KEY, 2, KEY_OPERATOR)
        await federation.put_epoch(2)
        await drive(federation, one, two, rounds=2)
        with cleo.client() as three:
            await drive(federation, one, two, three)
    assert len({home.summary.parameters_sha256 for home in homes}) == 1
    epochs = [record.epoch for record in cleo.summary.history]
    assert (epochs[0], epochs[-1]) == (1, 2)
    assert cleo.summary.rounds_included <= 1


async def test_who_comes_when_all_is_over_gets_the_model_and_spends_nothing(federation):
    await federation.start_lines()
    ada, ben, cleo = await federation.line_homes("ada", "ben", "cleo")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    with cleo.client() as three:
        await drive(federation, three)
    assert cleo.summary.parameters_sha256 == ada.summary.parameters_sha256
    assert (cleo.summary.epsilon_spent, cleo.charges) == (0, 0)


async def test_an_aborted_round_changes_nothing_but_is_paid_for(federation, clock):
    """One of two clients vanishes; its round is aborted; it comes back for the next one."""
    await federation.start_lines(rounds=rounds(extensions=0))
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one:
        with ben.client() as two:
            while (await federation.aggregator.api.run("demo", RUN_OPERATOR)).round == 0:
                await one.step()
                await two.step()
                await federation.tick()
        while not ada.uploads(1):
            await one.step()
        clock.advance(61)
        await federation.tick()
        before = one.stage.run.checkpoint.sha256
        with ben.client() as two:
            await drive(federation, one, two)
    first, second = ada.summary.history
    assert (first.state, first.parameters_sha256) == (RoundState.ABORTED, before)
    assert second.state is RoundState.PUBLISHED
    assert (ada.charges, ben.charges) == (2, 1)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256


async def test_an_own_task_in_a_separate_file_is_trained(federation):
    """Lines y = 2x, 2x + 1 and 2x + 2: the average client has slope 2 and intercept 1."""
    await federation.start_lines(
        training={"learning_rate": 0.5, "local_epochs": 5},
        noise={"clip": 4.0, "laplace_scale": 0.0},
        value_bits=16,
        rounds=rounds(count=4, clients_per_round=3, start_with=3),
    )
    homes = await federation.line_homes(
        "ada", "ben", "cleo", max_epsilon=None, accept_no_privacy=True
    )
    with homes[0].client() as one, homes[1].client() as two, homes[2].client() as three:
        await drive(federation, one, two, three)
    tensors = safetensors.numpy.load_file(homes[0].summary.model)
    assert tensors["weight"].item() == pytest.approx(2.0, abs=0.05)
    assert tensors["bias"].item() == pytest.approx(1.0, abs=0.05)
    assert homes[0].summary.test is None
    assert homes[0].summary.privacy is None


async def test_a_heartbeat_tells_what_the_client_is_doing(federation):
    await federation.start()
    ada = await federation.home("ada")
    with ada.client() as one:
        await one.step()
        await one.step()
        with one.stage.run.activity.during(Phase.ENCRYPTING, 3):
            await one.stage.beat()
            answer = await federation.aggregator.api.participants("demo", RUN_OPERATOR)
            assert (answer.participants[0].phase, answer.participants[0].round) == (
                Phase.ENCRYPTING,
                3,
            )
        await one.stage.beat()
        answer = await federation.aggregator.api.participants("demo", RUN_OPERATOR)
        assert answer.participants[0].phase is Phase.IDLE


class LosingCleo(InlineExecutor):
    """A worker that is given an update of hers is lost."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        if isinstance(args[0], CheckJob) and args[0].context.client == "cleo":
            future: Future[Any] = Future()
            future.set_exception(BrokenExecutor("a process died"))
            return future
        return super().submit(fn, *args, **kwargs)


async def test_a_client_whose_update_was_set_aside_goes_on_with_the_others(
    federation, clock, caplog
):
    """It was acknowledged and is not in the sum: the aggregator's explanation is accepted."""
    await federation.start_lines(rounds=rounds(count=1, clients_per_round=3, start_with=3))
    aggregator, former = federation.aggregator, federation.aggregator.workers
    aggregator.workers = Workers(LosingCleo(), 1)
    aggregator.pool.replace(former)
    homes = await federation.line_homes("ada", "ben", "cleo")
    with homes[0].client() as one, homes[1].client() as two, homes[2].client() as three:
        await drive(federation, one, two, three, meanwhile=lambda: clock.advance(3))
    outcome = await aggregator.api.outcome("demo", 1, RUN_OPERATOR)
    assert (outcome.state, outcome.included) == (RoundState.PUBLISHED, ("ada", "ben"))
    assert len({home.summary.parameters_sha256 for home in homes}) == 1
    assert [home.summary.rounds_included for home in homes] == [1, 1, 0]
    assert "left out: the aggregator could not check it: its worker was lost 5 times" in caplog.text
