"""A mutated function in the place of the original, without importing anything again."""

import gc
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType

from experiments.mutants.mutant import Mutant


class LiveFunctions:
    """Every function that was made from the source of some files, whoever holds or wraps it."""

    def __init__(self, filenames: Collection[str]) -> None:
        self._functions = [
            function
            for function in gc.get_objects()
            if type(function) is FunctionType and function.__code__.co_filename in filenames
        ]

    def take_in(self, mutant: Mutant, filename: str) -> bool:
        """Gives the function the mutated code. False if there is none, or if the code does not
        fit: then the module must be imported afresh."""
        compiled = compile(mutant.source, filename, "exec")
        mutated = {code.co_qualname: code for code in _within(compiled)}
        concerned = [
            function
            for function in self._functions
            if function.__code__.co_filename == filename
            and function.__code__.co_qualname == mutant.function
        ]
        try:
            for function in concerned:
                function.__code__ = mutated[function.__code__.co_qualname]
        except ValueError:  # other free variables than before
            return False
        return bool(concerned)


def _within(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _within(constant)
