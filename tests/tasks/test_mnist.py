"""MNIST's files: read, checked, fetched. The real ones are not needed here."""

import gzip
import hashlib
import struct
from urllib.error import URLError

import numpy as np
import pytest
import torch

from fedperm_client.errors import TaskError
from fedperm_client.tasks.downloads import CompressedFile
from fedperm_client.tasks.idx import parse_idx
from fedperm_client.tasks.mnist import MIRROR, TEST, TRAIN, Mnist
from tests.tasks.contexts import context

IMAGES = np.random.default_rng(5).integers(0, 256, (40, 28, 28), dtype=np.uint8)
LABELS = np.arange(40, dtype=np.uint8) % 10


def idx(array) -> bytes:
    """Written from the format's description, not with our code."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


CONTENT = {"images.gz": idx(IMAGES), "labels.gz": idx(LABELS)}
FILES = tuple(CompressedFile(n, hashlib.sha256(c).hexdigest()) for n, c in CONTENT.items())


class SmallMnist(Mnist):
    train = FILES
    test = FILES

    @staticmethod
    def fetch(address):
        raise AssertionError(f"{address} was fetched although all files are there")


@pytest.fixture
def data(tmp_path):
    (tmp_path / "mnist").mkdir()
    for name, content in CONTENT.items():
        (tmp_path / "mnist" / name).write_bytes(gzip.compress(content))
    return tmp_path


def test_images_and_labels_are_read(data):
    examples = SmallMnist(context(data=data)).test_data()
    assert examples.inputs.shape == (40, 1, 28, 28)
    np.testing.assert_allclose(examples.inputs[7, 0].numpy() * 255, IMAGES[7], atol=1e-4)
    assert examples.targets.tolist() == LABELS.tolist()


def test_shards_hold_all_training_images(data):
    shards = [SmallMnist(context({"min_records": 3}, s, 4, data)).training_data() for s in range(4)]
    labels = torch.cat([shard.targets for shard in shards])
    assert torch.bincount(labels).tolist() == [4] * 10


def test_a_changed_file_is_refused(data):
    other = IMAGES.copy()
    other[3, 3, 3] ^= 1
    (data / "mnist" / "images.gz").write_bytes(gzip.compress(idx(other)))
    with pytest.raises(TaskError, match="does not hold the data that it is named after"):
        SmallMnist(context(data=data)).test_data()


@pytest.mark.parametrize(
    "octets",
    [b"", b"no gzip", gzip.compress(b"x" * 1000, mtime=0)[:-9]],
    ids=["empty", "not gzip", "cut off"],
)
def test_a_damaged_archive_is_refused(data, octets):
    (data / "mnist" / "labels.gz").write_bytes(octets)
    with pytest.raises(TaskError, match=r"labels.gz (cannot be read|does not hold)"):
        SmallMnist(context(data=data)).test_data()


def test_missing_files_are_fetched_once_and_kept(tmp_path):
    fetched = []

    class Fetching(SmallMnist):
        @staticmethod
        def fetch(address):
            fetched.append(address)
            return gzip.compress(CONTENT[address.removeprefix(MIRROR)])

    for _ in range(2):
        assert len(Fetching(context(data=tmp_path)).test_data()) == 40
    assert fetched == [MIRROR + "images.gz", MIRROR + "labels.gz"]


def test_a_fetched_file_is_checked_as_well(tmp_path):
    class Mirror(SmallMnist):
        @staticmethod
        def fetch(_address):
            return gzip.compress(b"something else")

    with pytest.raises(TaskError, match="does not hold the data"):
        Mirror(context(data=tmp_path)).test_data()


def test_without_a_network_it_says_where_to_put_the_files(tmp_path):
    class Offline(SmallMnist):
        @staticmethod
        def fetch(_address):
            raise URLError("no route")

    with pytest.raises(TaskError, match=r"images\.gz cannot be fetched: .*no route") as caught:
        Offline(context(data=tmp_path)).test_data()
    assert f"put the file into {tmp_path / 'mnist'}" in caught.value.hint


def test_the_official_files_are_named():
    assert [file.name for file in (*TRAIN, *TEST)] == [
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    ]


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        (b"", "does not begin"),
        (b"\x00\x00\x0d\x01" + struct.pack(">I", 0), "does not begin"),
        (b"\x00\x00\x08\x09", "claims 9 axes"),
        (b"\x00\x00\x08\x02\x00\x00", "claims 2 axes"),
        (idx(LABELS)[:-1], "holds 39 octets"),
        (idx(LABELS) + b"\x00", "holds 41 octets"),
    ],
)
def test_a_damaged_idx_file_is_refused(octets, why):
    with pytest.raises(TaskError, match=f"labels is damaged: it {why}"):
        parse_idx(octets, "labels")
