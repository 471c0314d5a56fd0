"""As much of locust as `experiments/load/locustfile.py` uses; locust is not installed here."""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

class _Session:
    verify: bool | str
    def get(self, url: str, **request: Any) -> Any: ...
    def put(self, url: str, **request: Any) -> Any: ...

class HttpUser:
    client: _Session

class _Event:
    def add_listener(self, listener: Function) -> Function: ...

class events:
    init: _Event

def between(least: float, most: float) -> Any: ...
def task(weight: int) -> Callable[[Function], Function]: ...
