"""MNIST: 60,000 handwritten digits of 28 x 28 pixels, and 10,000 for testing (LeCun et al.)."""

from typing import ClassVar

from fedperm_client.tasks.downloads import CompressedFile, fetch_missing, fetch_over_https
from fedperm_client.tasks.idx import parse_idx
from fedperm_client.tasks.images import ImageTask, LabelledImages

MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"

TRAIN = (
    CompressedFile(
        "train-images-idx3-ubyte.gz",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    CompressedFile(
        "train-labels-idx1-ubyte.gz",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
)
TEST = (
    CompressedFile(
        "t10k-images-idx3-ubyte.gz",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    CompressedFile(
        "t10k-labels-idx1-ubyte.gz",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
)
ImagesAndLabels = tuple[CompressedFile, CompressedFile]


class Mnist(ImageTask):
    """Reads data_directory/mnist, and fetches what is missing there."""

    side = 28
    train: ClassVar[ImagesAndLabels] = TRAIN
    test: ClassVar[ImagesAndLabels] = TEST

    @staticmethod
    def fetch(address: str) -> bytes:
        return fetch_over_https(address)

    def everybodys(self) -> LabelledImages:
        return self._read(self.train)

    def public(self) -> LabelledImages:
        return self._read(self.test)

    def _read(self, files: ImagesAndLabels) -> LabelledImages:
        folder = self.context.data_directory / "mnist"
        fetch_missing(folder, files, MIRROR, self.fetch)
        pixels, labels = (parse_idx(file.read(folder), file.name) for file in files)
        return LabelledImages(pixels, labels, brightest=255)
