"""The mutants of a module: mutmut's changes and two of our own, each in a source of its own.

mutmut's way of running them leaves out every decorated function and whatever stands outside of
functions, which here are the transactions, the decisions and the bounds. So only its operators
are used.
"""

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m
from mutmut.mutation.mutators import mutation_operators

from experiments.mutants.mutant import Mutant, mutant_of
from experiments.mutants.wording import is_log_call, is_wording, takes_away_wording

_TYPE = m.BinaryOperation(operator=m.BitOr()) | m.Subscript(value=m.Name("Callable"))
"""An alias says nothing at run time."""
_SKIPPED_CALLS = {"len", "isinstance", "TypeVar", "getLogger"}
"""mutmut leaves out the first two; the others make no behaviour."""


def mutants_of(path: str, source: str) -> list[Mutant]:
    module = cst.parse_module(source)
    seen = {source}
    mutants = []
    for function, node, changed in _changes(module, ()):
        mutated = module.deep_replace(node, changed).code
        if mutated not in seen:
            seen.add(mutated)
            mutants.append(mutant_of(path, function, source, mutated))
    return mutants


def _changes(
    node: cst.CSTNode, names: tuple[str, ...], function: str | None = None
) -> Iterator[tuple[str | None, cst.CSTNode, cst.CSTNode]]:
    """(function, node, changed node) of everything below a node that is in classes and functions
    of these names."""
    if _is_skipped(node):
        return
    for changed in _changed(node):
        yield function, node, changed
    if isinstance(node, cst.ClassDef | cst.FunctionDef):
        names = (*names, node.name.value)
    for child in node.children:
        is_body = isinstance(node, cst.FunctionDef) and child is node.body
        yield from _changes(child, names, function or (".".join(names) if is_body else None))


def _is_skipped(node: cst.CSTNode) -> bool:
    """With everything below it."""
    if isinstance(node, cst.Annotation | cst.Decorator) or is_wording(node) or is_log_call(node):
        return True
    if isinstance(node, cst.Expr):
        return is_log_call(node.value)
    if isinstance(node, cst.Assign):
        return bool(m.matches(node.value, _TYPE))
    return isinstance(node, cst.Call) and _name_of(node.func) in _SKIPPED_CALLS


def _name_of(function: cst.BaseExpression) -> str:
    """The last part of a dotted name."""
    named = function.attr if isinstance(function, cst.Attribute) else function
    return str(named.value) if isinstance(named, cst.Name) else ""


def _changed(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in mutation_operators:
        if isinstance(node, kind):
            for changed in operator(node):
                if not _is_about_wording(node, changed):
                    yield changed
    yield from _left_out(node)
    yield from _negated(node)


def _is_about_wording(node: cst.CSTNode, changed: cst.CSTNode) -> bool:
    if isinstance(node, cst.Call):
        return takes_away_wording(node, changed)
    return isinstance(node, cst.Assign | cst.AnnAssign) and is_wording(node.value)


def _left_out(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A call made for its effect is not made: a check forgotten, a record not written."""
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call | cst.Await):
        yield cst.Pass()


def _negated(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Conditions that no other change turns round."""
    if isinstance(node, cst.If) and not isinstance(node.test, cst.Comparison | cst.UnaryOperation):
        bracketed = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        yield node.with_changes(test=cst.UnaryOperation(cst.Not(), bracketed))
