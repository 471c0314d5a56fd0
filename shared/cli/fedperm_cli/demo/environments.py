"""The settings of each process, as environment variables."""

from collections.abc import Mapping
from pathlib import Path

from fedperm_cli.demo.folder import DemoFolder
from fedperm_cli.demo.options import NAME, DemoOptions

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Many processes share few cores: more threads would only wait for each other."""
_PATIENCE_SECONDS = 60


def key_server_environment(folder: DemoFolder, options: DemoOptions) -> Mapping[str, str]:
    return _settings(
        "KEYSERVER",
        state_directory=folder.state("keyserver"),
        operator_token_file=folder.key_operator_token,
        key_encryption_key_file=folder.key_encryption_key,
        insecure_for_tests=options.insecure_test_key,
    )


def aggregator_environment(folder: DemoFolder, options: DemoOptions) -> Mapping[str, str]:
    return _settings(
        "AGGREGATOR",
        state_directory=folder.state("aggregator"),
        operator_token_file=folder.run_operator_token,
        insecure_for_tests=options.insecure_test_key,
    )


def client_environment(
    folder: DemoFolder, options: DemoOptions, name: str, key_server: str, aggregator: str
) -> Mapping[str, str]:
    """A client that gives exactly the privacy that the demo promises."""
    own = {} if options.task is None else _settings("CLIENT", task=options.task)
    return (
        _ONE_THREAD
        | own
        | _settings(
            "CLIENT",
            keyserver_url=key_server,
            aggregator_url=aggregator,
            run=NAME,
            key=NAME,
            enrolment_token_file=folder.enrolment_token,
            state_directory=folder.state(name),
            data_directory=options.data.resolve(),
            max_epsilon=options.epsilon,
            min_key_bits=options.key_bits,
            torch_threads=1,
            patience_seconds=_PATIENCE_SECONDS,
            insecure_for_tests=options.insecure_test_key,
        )
    )


def _settings(service: str, **settings: str | float | Path) -> dict[str, str]:
    return {f"FEDPERM_{service}_{name.upper()}": str(value) for name, value in settings.items()}
