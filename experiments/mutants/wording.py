"""What is not mutated because it only says something to a person: messages, hints and logs."""

import libcst as cst
import libcst.matchers as m

_LOG_CALL = m.Call(func=m.Attribute(value=m.Name("log")))
_HINTS = {"hint", "_HINT"}


def is_wording(node: cst.CSTNode | None) -> bool:
    """Prose has a blank in it: other strings are names, patterns and formats."""
    if isinstance(node, cst.SimpleString | cst.FormattedStringText):
        return " " in node.value
    if isinstance(node, cst.FormattedString):
        return any(is_wording(part) for part in node.parts)
    if isinstance(node, cst.ConcatenatedString):
        return is_wording(node.left) or is_wording(node.right)
    return isinstance(node, cst.Name) and node.value in _HINTS


def is_log_call(node: cst.CSTNode) -> bool:
    return bool(m.matches(node, _LOG_CALL))


def takes_away_wording(call: cst.Call, mutated: cst.CSTNode) -> bool:
    """Whether an argument that is wording was left out or became None."""
    kept = {id(argument) for argument in mutated.children}
    gone = (argument for argument in call.args if id(argument) not in kept)
    return any(is_wording(argument.value) for argument in gone)
