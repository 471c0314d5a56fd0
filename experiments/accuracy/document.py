"""The run document of an experiment: what a real federation of it would agree on."""

from experiments.accuracy.setting import CLIENTS, DELTA, KEY_BITS, ROUNDS, Recipe
from fedperm.ids import KeyName, RunName
from fedperm.norm_bound import honest_limit
from fedperm.run_document import (
    KeySpec,
    ModelSpec,
    NoiseSpec,
    NormSpec,
    OperatorKeys,
    RoundsSpec,
    RunDocument,
    ShuffleSpec,
    TaskSpec,
    TensorSpec,
    TrainingSpec,
)
from fedperm.windows import Geometry

_NOBODY = "B" * 42 + "A"
"""Neither a key server nor an operator signs anything here."""
_ANY_MODEL = "0" * 64


def document_of(
    recipe: Recipe, geometry: Geometry, laplace_scale: float, min_records: int
) -> RunDocument:
    """Softmax regression under this noise; honest clients are within the norm bound."""
    return RunDocument(
        run=RunName("paper"),
        task=TaskSpec(name="mnist"),
        model=ModelSpec(
            tensors=(
                TensorSpec(name="1.weight", shape=(10, 784)),
                TensorSpec(name="1.bias", shape=(10,)),
            ),
            initial_sha256=_ANY_MODEL,
        ),
        training=TrainingSpec(
            learning_rate=recipe.learning_rate,
            local_epochs=recipe.local_epochs,
            batch_size=recipe.batch_size,
            record_clip_norm=recipe.record_clip_norm,
            min_records=min_records,
        ),
        shuffle=ShuffleSpec(k1=geometry.k1, k2=geometry.k2),
        noise=NoiseSpec(clip=recipe.clip, laplace_scale=laplace_scale, delta=DELTA),
        value_bits=recipe.value_bits,
        norm_bound=NormSpec(limit=honest_limit(geometry.padded_d, laplace_scale)),
        rounds=RoundsSpec(
            count=ROUNDS,
            clients_per_round=CLIENTS,
            min_contributors=CLIENTS,
            start_with=CLIENTS,
            deadline_seconds=600.0,
            extension_seconds=600.0,
        ),
        key=KeySpec(key=KeyName("none"), parameters={"key_bits": KEY_BITS}, signing_key=_NOBODY),
        operator=OperatorKeys(signing_key=_NOBODY, sealing_key=_NOBODY),
    )
