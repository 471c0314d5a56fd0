"""What is in each image, and above all what is not."""

import pytest
from python_on_whales import DockerClient

from fedperm.services import programs

pytestmark = pytest.mark.docker

NAMES = (*(program.name for program in programs()), "operator")
LIST_PACKAGES = """
from importlib.metadata import distributions
print(*{distribution.name.lower().replace("_", "-") for distribution in distributions()})
"""
SECRET_CODE = ("phe", "fedperm-secret")
LEARNING = ("torch", "scikit-learn", "opendp", "dp-accounting")
OURS = {
    "fedperm",
    *(f"fedperm-{part}" for part in ("secret", "cli")),
    *(program.distribution for program in programs()),
}


def packages(images: DockerClient, name: str) -> set[str]:
    said = images.run(f"fedperm-{name}", ["-c", LIST_PACKAGES], entrypoint="python", remove=True)
    return set(str(said).split())


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("keyserver", {"fedperm", "fedperm-secret", "fedperm-keyserver"}),
        ("aggregator", {"fedperm", "fedperm-aggregator"}),
        ("client", {"fedperm", "fedperm-secret", "fedperm-client"}),
        ("operator", {"fedperm", "fedperm-secret", "fedperm-client", "fedperm-cli"}),
    ],
)
def test_an_image_holds_its_own_distributions_only(images, name, own):
    assert packages(images, name) & OURS == own


def test_the_aggregator_has_no_code_for_secret_keys_and_none_for_learning(images):
    found = packages(images, "aggregator")
    assert "gmpy2" in found
    assert found.isdisjoint({*SECRET_CODE, *LEARNING})


def test_the_key_server_cannot_learn(images):
    found = packages(images, "keyserver")
    assert {"phe", "gmpy2"} <= found
    assert found.isdisjoint(LEARNING)


def test_the_aggregators_files_hold_no_trace_of_the_secret_half(images):
    """Not even uninstalled, as a file somewhere."""
    looked = images.run(
        "fedperm-aggregator",
        ["/", "-xdev", "(", "-ipath", "*fedperm_secret*", "-o", "-path", "*/phe/*", ")"],
        entrypoint="find",
        user="0:0",
        remove=True,
    )
    assert str(looked).strip() == ""


@pytest.mark.parametrize("name", NAMES)
def test_no_image_runs_as_root_or_holds_the_repository(images, name):
    (image,) = images.image.list(f"fedperm-{name}:latest")
    assert image.config.user == "10001:10001"
    looked = images.run(
        f"fedperm-{name}",
        ["-c", "ls -d /src /.git /tests /opt/fedperm/tests 2>/dev/null; true"],
        entrypoint="sh",
        remove=True,
    )
    assert str(looked).strip() == ""
