"""What makes servers complain: wrong credentials, misplaced secrets, and rows that crash them.

Everything here happens at the very end: afterwards the run is beyond repair.
"""

import sqlite3
from contextlib import closing

import httpx

from fedperm_cli.federation.folder import FederationFolder
from tests.federation.world import KEY
from tests.leaks.whole_run import StandingRun


def provoke(run: StandingRun) -> list[int]:
    """The statuses of all refusals and crashes."""
    aggregator, key_server = run.world.aggregator.address, run.world.key_server.address
    secrets = [run.world.key_operator, run.world.run_operator, *run.tokens]
    with httpx.Client(timeout=30.0) as http:
        statuses = [
            *(refused(http, f"{aggregator}/v1/runs", secret) for secret in secrets),
            *(refused(http, f"{key_server}/v1/audit", secret) for secret in secrets),
            *(misplaced(http, f"{aggregator}/v1/runs", run.world.run_operator, s) for s in secrets),
            *(misplaced(http, f"{key_server}/v1/keys", run.world.key_operator, s) for s in secrets),
        ]
        break_rows(run.world.folder)
        statuses += crashes(http, run)
    return statuses


def refused(http: httpx.Client, url: str, secret: str) -> int:
    """Somebody's secret, but not in its right form."""
    return http.get(url, headers={"Authorization": f"Bearer {secret}."}).status_code


def misplaced(http: httpx.Client, url: str, operator: str, secret: str) -> int:
    """By the right operator: in the path, in the query, in headers, and in JSON of no form."""
    return http.put(
        f"{url}/{secret}",
        params={"token": secret},
        headers={
            "Authorization": f"Bearer {operator}",
            "Cookie": secret,
            "X-Request-ID": secret[:64] + "!",
        },
        json={"token": secret, "key_bits": secret},
    ).status_code


def break_rows(folder: FederationFolder) -> None:
    """What the aggregator reads next makes no sense, and what the key server writes is not taken:
    mistakes of ours would look alike."""
    broken = {
        "keyserver": "CREATE TRIGGER broken BEFORE INSERT ON audit_entries "
        "BEGIN SELECT RAISE(ABORT, 'broken'); END",
        "aggregator": "UPDATE rounds SET state = 'broken'",
    }
    for server, statement in broken.items():
        path = folder.state(server) / f"{server}.db"
        with closing(sqlite3.connect(path, timeout=10)) as database, database:
            database.execute(statement)


def crashes(http: httpx.Client, run: StandingRun) -> list[int]:
    here = run.world
    operator = {"Authorization": f"Bearer {here.run_operator}"}
    rounds = f"{here.aggregator.address}/v1/runs/{here.run}/rounds"
    return [http.get(rounds, headers=operator).status_code, *releases(http, run)]


def releases(http: httpx.Client, run: StandingRun) -> list[int]:
    """The key server has unwrapped and sealed the key when it finds that it cannot record it."""
    url = f"{run.world.key_server.address}/v1/keys/{KEY}/epochs/1/releases"
    return [
        http.post(url, headers={"Authorization": f"Bearer {token}"}).status_code
        for token in run.known.tokens_for_the_key_server
    ]
