"""What a refusal must look like."""

from collections.abc import Awaitable

import httpx
import pytest

from fedperm.errors import RefusedError
from fedperm.wire.problem import MEDIA_TYPE, Problem


async def refusal(status: int, kind: str, request: Awaitable[object]) -> RefusedError:
    """The error of a request that is refused with exactly this status and kind."""
    with pytest.raises(RefusedError) as caught:
        await request
    assert (caught.value.status, caught.value.kind) == (status, kind)
    assert caught.value.hint
    return caught.value


def problem(response: httpx.Response) -> Problem:
    assert response.headers["Content-Type"] == MEDIA_TYPE
    found = Problem.model_validate_json(response.content)
    assert found.status == response.status_code
    assert found.detail
    assert found.hint
    assert found.request_id == response.headers["X-Request-ID"]
    return found
