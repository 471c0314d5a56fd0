"""The one version of everything that crosses the wire, is signed, or is stored to be read later.

`fedperm/N` names the paths, messages, statements, bodies and run documents together. N goes up by
one with any change after which a party of the old version would misread or refuse what a new one
sends, and that is any change of a message, since unknown members are refused. Parties of different
versions do not work together: each says which one it speaks (`/version`, `Participation`), and
whoever notices the difference names both and says which to upgrade.

What was stored under an older version can be read for good: run documents and epoch records, whose
signed or hashed bytes cannot be rewritten, by the classes that hold them; tables by revisions; a
client's state directory by `fedperm_client.state_directory`. A program refuses what a newer one has
stored. docs/protocol.md, "Versions", has the rule, and ADR 14 the reasons.
"""

import re
from typing import Final, Literal

PROTOCOL: Final = "fedperm/3"
FIRST_PROTOCOL: Final = "fedperm/1"
Protocol = Literal["fedperm/1", "fedperm/2", "fedperm/3"]
"""Of stored documents; what is sent is of the newest."""


def is_newer(word: object) -> bool:
    """Whether this names a version that came after this program's."""
    found = re.fullmatch("fedperm/([0-9]{1,9})", word) if isinstance(word, str) else None
    return found is not None and int(found[1]) > int(PROTOCOL.removeprefix("fedperm/"))


def upgrade_hint(theirs: str, *, them: str, us: str) -> str:
    """What to do where another party speaks `theirs` instead of PROTOCOL: upgrade the older."""
    known = re.fullmatch(r"fedperm/(\d{1,9})", theirs)
    if known is None:
        return f"install the same version of {them} and {us}"
    return f"upgrade {us if is_newer(theirs) else them}"
