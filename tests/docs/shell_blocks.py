"""What stands between fences in a document."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(document: str, kind: str = "") -> list[str]:
    text = (ROOT / document).read_text()
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for its_kind, block in fenced if its_kind == kind]
