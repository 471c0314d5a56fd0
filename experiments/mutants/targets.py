"""Which modules are mutated, and which tests are asked about them."""

from dataclasses import dataclass

from fedperm.services import programs


@dataclass(frozen=True)
class Target:
    """Tests of its `homes` are asked first, and all; others of its `tests` as time allows."""

    path: str
    homes: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return name_of(self.path)


def name_of(path: str) -> str:
    """`fedperm_aggregator/stores/jobs`, say."""
    return path.split("/", 2)[2].removesuffix(".py")


def _targets(package: str, folders: str, homes: dict[str, str]) -> list[Target]:
    """`homes` are the files of the first folder that belong to each module."""
    tests = tuple(f"tests/{folder}" for folder in folders.split())
    return [
        Target(
            path=f"{package}/{module}.py",
            homes=tuple(f"{tests[0]}/test_{name}.py" for name in names.split()),
            tests=tests,
        )
        for module, names in homes.items()
    ]


TARGETS = [
    *_targets(
        "services/aggregator/fedperm_aggregator",
        "aggregator",
        {
            "submissions/rules": "refused_uploads uploads",
            "rounds/rules": "lifecycle",
            "rounds/phases": "lifecycle",
            "jobs/check": "check validation leases",
            "authorization": "access",
            "rounds/tasks": "tasks",
            "presence": "presence participants",
            "stores/decisions": "events deadlines side_by_side",
            "stores/jobs": "events leases",
            "stores/submissions": "events uploads validation",
            "stores/rounds": "events reports scrubbing restart",
            "stores/views": "side_by_side deadlines",
        },
    ),
    *_targets(
        "services/keyserver/fedperm_keyserver",
        "keyserver",
        {
            "admission": "admission enrolment",
            "access": "access edge",
            "clients": "enrolment revocation edge",
            "tokens": "enrolment",
        },
    ),
    *_targets(
        "services/client/fedperm_client",
        "client",
        {
            "aggregate_checks": "aggregate_checks",
            "ceilings": "ceilings",
            "epoch_keys": "epoch_keys",
            "joining": "distrust",
        },
    ),
    *_targets(
        "shared/public/fedperm/web",
        "web keyserver/test_edge.py keyserver/test_access.py",
        {
            "credentials": "credentials edge",
            "rate_limit": "rate_limit",
            "incoming_body": "incoming_body slow_bodies",
        },
    ),
    *_targets(
        "shared/public/fedperm/wire",
        "statements keyserver client/test_epoch_keys.py",
        {
            "signed": "signed",
            "statements": "forms key_statements signed",
            "enrolment_token": "enrolment_tokens",
        },
    ),
    *_targets(
        "shared/public/fedperm/wire",
        "wire aggregator/test_uploads.py aggregator/test_refused_uploads.py",
        {"digest": "digest"},
    ),
]

LEFT_OUT = (
    "tests/aggregator/test_databases.py",
    "tests/aggregator/test_draining.py",
    "tests/aggregator/test_pool.py",
    "tests/aggregator/test_process.py",
    "tests/aggregator/test_stopped_processes.py",
    "tests/keyserver/test_process.py",
    "tests/client/test_command.py",
)
"""They start processes of their own, wait for seconds, or try many things at random."""

OURS = {
    *("fedperm", "fedperm_secret", "fedperm_cli", "tests"),
    *(program.module for program in programs()),
}
