"""What the pictures are drawn from, as it lies in a file beside them."""

import json
from dataclasses import asdict, dataclass

from fedperm_cli.presets import Preset
from fedperm_cli.privacy.amplification import Curve, Point, Varied
from fedperm_cli.privacy.scales import Scale


@dataclass(frozen=True)
class Numbers:
    curves: tuple[Curve, ...]
    scales: tuple[Scale, ...]

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)


def numbers_from_json(text: str) -> Numbers:
    document = json.loads(text)
    curves = (
        Curve(
            **{
                **curve,
                "varied": Varied(curve["varied"]),
                "points": tuple(Point(**point) for point in curve["points"]),
            }
        )
        for curve in document["curves"]
    )
    scales = (Scale(**{**scale, "preset": Preset(scale["preset"])}) for scale in document["scales"])
    return Numbers(tuple(curves), tuple(scales))
