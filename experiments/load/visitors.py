"""Enrolled clients for `locustfile`: they join a run, ask and report, and never upload.

    .venv/bin/python -m experiments.load.visitors --run visited --key hospitals \\
        --enrolment-token-file enrolment-token --count 20 --output visitors.json

The servers are those of FEDPERM_KEYSERVER, FEDPERM_AGGREGATOR and FEDPERM_CA_FILE. Access tokens
expire, after five minutes by default: make new visitors for another test.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fedperm.clock import Clock, SystemClock
from fedperm.durable_file import write_durably
from fedperm.errors import FedPermError
from fedperm.ids import ClientName, KeyName, RunName
from fedperm.protocol import PROTOCOL
from fedperm.randomness import from_operating_system
from fedperm.services import AGGREGATOR
from fedperm.wire.aggregator import Participation
from fedperm.wire.enrolment_token import parse_token
from fedperm.wire.message import Many, Message
from fedperm_client.access import Access
from fedperm_client.identity import ClientIdentity, ClientKeys, enrol
from fedperm_client.peers import Peers, connect


class Visitor(Message):
    client: ClientName
    access_token: str


class Visitors(Message):
    """`run` is the one that all have joined."""

    run: RunName
    visitors: Many[Visitor]


async def enrolled(token: str, key: KeyName, peers: Peers) -> ClientIdentity:
    """Keys that nobody keeps: a visitor gets no secret key."""
    with TemporaryDirectory() as folder:
        keys = ClientKeys.kept_at(Path(folder, "keys"), from_operating_system())
        return await enrol(
            Path(folder, "enrolled"), keys, key, parse_token(token), peers.key_server
        )


async def visit(identity: ClientIdentity, run: RunName, peers: Peers, clock: Clock) -> Visitor:
    async def join(token: str) -> str:
        document = await peers.aggregator.document(run, token)
        wanted = Participation(document=document.sha256, protocol=PROTOCOL)
        await peers.aggregator.join(run, identity.name, wanted, token)
        return token

    access = Access(identity, peers.key_server, clock, from_operating_system())
    return Visitor(client=identity.name, access_token=await access.using(AGGREGATOR, join))


async def make_visitors(given: argparse.Namespace) -> Visitors:
    ca_file = os.environ.get("FEDPERM_CA_FILE")
    servers = os.environ["FEDPERM_KEYSERVER"], os.environ["FEDPERM_AGGREGATOR"]
    token = given.enrolment_token_file.read_text().strip()
    async with connect(*servers, Path(ca_file) if ca_file else None) as peers:
        identities = [await enrolled(token, given.key, peers) for _ in range(given.count)]
        visitors = [await visit(each, given.run, peers, SystemClock()) for each in identities]
    return Visitors(run=given.run, visitors=tuple(visitors))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.load.visitors")
    parser.add_argument("--run", type=RunName, required=True)
    parser.add_argument("--key", type=KeyName, required=True)
    parser.add_argument("--enrolment-token-file", type=Path, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    try:
        made = asyncio.run(make_visitors(given))
    except FedPermError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    write_durably(given.output, made.model_dump_json().encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
