"""Errors leave a worker process as they were raised in it."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from fedperm.errors import FedPermError, RateLimitError, RefusedError, TamperedError

MADE = {
    RateLimitError: lambda: RateLimitError("too many", "wait", 2.5),
    RefusedError: lambda: RefusedError("no", "ask", status=409, kind="conflict"),
    TamperedError: lambda: TamperedError("no", "ask", table="clients", row="ada", why="mark"),
}


def kinds(kind=FedPermError):
    return [kind, *(below for child in kind.__subclasses__() for below in kinds(child))]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_an_error_survives_pickling(kind):
    error = MADE.get(kind, lambda: kind("what was wrong", "what to do"))()
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  its own
    assert type(again) is kind
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def refuse() -> None:
    raise RefusedError("no", "ask", status=409, kind="conflict")


def test_a_pool_outlives_the_errors_of_its_work():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        for _ in range(2):
            with pytest.raises(RefusedError, match="no") as caught:
                pool.submit(refuse).result()
            assert caught.value.status == 409
