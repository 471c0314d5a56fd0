"""Which modules are mutated, and which tests are asked about them."""

from dataclasses import dataclass

_AGGREGATOR = ("tests/aggregator",)
_KEY_SERVER = ("tests/keyserver",)
_CLIENT = ("tests/client",)
_STATEMENTS = ("tests/statements", "tests/keyserver", "tests/client/test_epoch_keys.py")


@dataclass(frozen=True)
class Target:
    path: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return name_of(self.path)


def name_of(path: str) -> str:
    """`fedperm_aggregator/stores/jobs`, say."""
    return path.split("/", 2)[2].removesuffix(".py")


def _targets(home: str, modules: str, tests: tuple[str, ...]) -> list[Target]:
    return [Target(f"{home}/{module}.py", tests) for module in modules.split()]


TARGETS = [
    *_targets(
        "services/aggregator/fedperm_aggregator",
        "admission lifecycle checking validation gate tasks selection presence "
        "stores/decisions stores/jobs stores/updates stores/rounds stores/views",
        _AGGREGATOR,
    ),
    *_targets(
        "services/keyserver/fedperm_keyserver",
        "admission access releases clients tokens",
        _KEY_SERVER,
    ),
    *_targets(
        "services/client/fedperm_client", "settlement ceilings epoch_keys admission", _CLIENT
    ),
    *_targets(
        "shared/public/fedperm/web",
        "credentials rate_limit incoming_body",
        ("tests/web", "tests/keyserver/test_edge.py", "tests/keyserver/test_access.py"),
    ),
    *_targets("shared/public/fedperm/wire", "signed statements enrolment_token", _STATEMENTS),
    *_targets(
        "shared/public/fedperm/wire",
        "digest",
        ("tests/wire", "tests/aggregator/test_uploads.py", "tests/aggregator/test_service.py"),
    ),
]

LEFT_OUT = (
    "tests/aggregator/test_databases.py",
    "tests/aggregator/test_faults.py",
    "tests/aggregator/test_pool.py",
    "tests/aggregator/test_process.py",
    "tests/aggregator/test_stopped_processes.py",
    "tests/keyserver/test_process.py",
    "tests/client/test_command.py",
)
"""They start processes of their own, wait for seconds, or try many things at random."""

OURS = {
    *("fedperm", "fedperm_secret", "fedperm_cli", "fedperm_keyserver", "fedperm_aggregator"),
    *("fedperm_client", "tests"),
}
