"""Makes `deployment.tar.gz`: a deployment that was stopped in the middle of its work.

The archive was made by the last commit of fedperm/1, dd4fd75, with that commit's own code:

    cd CHECKOUT_OF_dd4fd75
    PYTHONPATH=. .venv/bin/python PATH_OF_THIS_FILE deployment.tar.gz

where .venv is what `make setup` makes there. This script does not run with newer code, and need
not: the archive is what that version left behind, and is never made anew. No path is stored in it:
databases hold names and digests, and whoever starts a program says where its folder is.

In the archive:

- `keyserver/`, `aggregator/`: the servers' state directories, with databases and blobs;
- `secrets/key-encryption-key`: without it the key server's database cannot be read;
- `ada/`, `bo/`, `cleo/`, `dan/`: the clients' state directories;
- `audit-end`: the hash with which the key server's audit log ended, as its operator keeps it.

Two runs were going on. In `demo`, round 1 is published and applied by all four clients, under key
epoch 1. Round 2 is open, under epoch 2: Ada's update is acknowledged and found valid. Bo's is
stored but not checked, and the answer to Bo was lost. Cleo's is in her outbox, charged, and never
arrived. Dan has not begun. In `sealed`, with Ada and Bo, round 1 is sealed and not folded.

The time is 2023, which is past on every clock on which a test may run; rounds last for decades, so
that the open one is still open.
"""

import asyncio
import sys
import tarfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fedperm.errors import UnreachableError
from tests.client.cut_line import request_of
from tests.client.documents import DIGITS, document
from tests.client.federation import KEY, Federation, drive
from tests.client.federation import RUN_OPERATOR as RUN_TOKEN
from tests.keyserver.server import KEK, MovingClock
from tests.keyserver.server import OPERATOR as KEY_TOKEN

NAMES = ("ada", "bo", "cleo", "dan")
MADE_AT = 1_700_000_000.0
DECADES = 1e9


def wanted(run, clients, rounds):
    """Windows of ten parameters: an update has about three thousand octets."""
    spec = {
        "count": rounds,
        "clients_per_round": clients,
        "min_contributors": clients,
        "start_with": clients,
        "deadline_seconds": DECADES,
        "extension_seconds": DECADES,
    }
    return document(run=run, shuffle={"k1": 10, "k2": 1}, rounds=spec)


@contextmanager
def started(homes, run):
    with ExitStack() as stack:
        yield [stack.enter_context(home.client(run=run)) for home in homes]


async def wait_for_round(federation, run, number, clients):
    while (await federation.aggregator.api.run(run, RUN_TOKEN)).round < number:
        for client in clients:
            await client.step()
        await federation.tick()


async def contribute(client, home, run):
    """Until an update of the open round is in the outbox, and no further."""
    while not any((home.state / "runs" / run / "outbox").glob("*")):
        await client.step()


async def contribute_on_a_cut_line(client, home, run):
    try:
        await contribute(client, home, run)
    except UnreachableError:
        return
    raise AssertionError("the update went through")


async def play_demo_to_its_second_round(federation, homes):
    api, run = federation.aggregator.api, "demo"
    await federation.start_run(DIGITS, wanted(run, len(homes), rounds=3))
    with started(homes, run) as clients:
        await wait_for_round(federation, run, 1, clients)
        await api.stop(run, RUN_TOKEN)
        await drive(federation, *clients, rounds=1)
        for client in clients:
            await client.step()  # its report
        await federation.key_server.api.create_epoch(KEY, 2, KEY_TOKEN)
        await federation.put_epoch(2, run)
        await api.resume(run, RUN_TOKEN)
        federation.clock.advance(1)
        await federation.tick()
        await contribute(clients[0], homes[0], run)


async def play_sealed_to_its_seal(federation, homes):
    run = "sealed"
    await federation.start_run(DIGITS, wanted(run, len(homes), rounds=1), epoch=2)
    with started(homes, run) as clients:
        await wait_for_round(federation, run, 1, clients)
        for client, home in zip(clients, homes, strict=True):
            await contribute(client, home, run)
    foreman = federation.aggregator.services.foreman
    await foreman.tick()
    await foreman.drain()  # checked
    foreman._conductor.move_all()  # sealed; a whole tick would fold as well


async def leave_updates_on_the_way(bo, cleo):
    """One that has arrived, and one that has not."""
    with started([bo, cleo], "demo") as clients:
        bo.to_aggregator.after.append(request_of("PUT", "/updates/bo"))
        cleo.to_aggregator.before.append(request_of("PUT", "/updates/cleo"))
        await contribute_on_a_cut_line(clients[0], bo, "demo")
        await contribute_on_a_cut_line(clients[1], cleo, "demo")


async def play(folder):
    federation = Federation(folder, MovingClock(MADE_AT))
    await federation.create_key()
    homes = await federation.homes(*NAMES, accountant="no-shuffle-rdp")
    await play_demo_to_its_second_round(federation, homes)
    await play_sealed_to_its_seal(federation, homes[:2])
    await leave_updates_on_the_way(*homes[1:3])
    audit = await federation.key_server.api.audit(KEY_TOKEN)
    (folder / "audit-end").write_text(audit.entries[-1].hash)
    federation.close()


def pack(folder, archive):
    """Only what programs keep: no locks, and nothing that names who made it and when."""

    def tame(info):
        if info.name.endswith(".lock"):
            return None
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = MADE_AT
        return info

    (folder / "aggregator" / "state").rename(folder / "state")
    (folder / "aggregator").rmdir()
    (folder / "state").rename(folder / "aggregator")
    (folder / "secrets").mkdir(mode=0o700)
    (folder / "secrets" / "key-encryption-key").write_text(KEK)
    with tarfile.open(archive, "w:gz") as packed:
        for path in sorted(folder.iterdir()):
            packed.add(path, path.name, filter=tame)


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        asyncio.run(play(Path(temporary)))
        pack(Path(temporary), sys.argv[1])
