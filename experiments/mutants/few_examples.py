"""A pytest plugin: hypothesis draws few examples, always the same ones, and makes none smaller."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    import hypothesis  # noqa: PLC0415 (pytest wants to see to its assertions first)

    hypothesis.settings.register_profile(
        "mutants",
        deadline=None,
        derandomize=True,
        database=None,
        max_examples=25,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
