"""The event loop's own watch: it notices who holds it up, and nobody else."""

import asyncio
import time
from collections.abc import Callable

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from experiments.rush.summary import stall_in
from fedperm.services import AGGREGATOR
from fedperm.web.service import build_service

pytestmark = pytest.mark.anyio

PLANTED_SECONDS = 0.2


def compute() -> None:
    end = time.thread_time() + PLANTED_SECONDS
    while time.thread_time() < end:
        pass


def service(block: Callable[[], None]) -> FastAPI:
    app = build_service(AGGREGATOR, ready=lambda: None, registry=CollectorRegistry())

    @app.get("/blocking")
    async def blocking() -> None:
        block()

    @app.get("/in-a-thread")
    def in_a_thread() -> None:
        time.sleep(PLANTED_SECONDS)

    return app


async def stall_after(app: FastAPI, path: str):
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as http,
    ):
        await asyncio.sleep(0.1)
        assert (await http.get(path)).status_code == 200
        await asyncio.sleep(0.1)
        metrics = (await http.get("/metrics")).text
    assert "fedperm_event_loop_stall_seconds_count 0.0" not in metrics
    return stall_in(metrics)


async def test_a_handler_that_sleeps_is_found():
    stall = await stall_after(service(lambda: time.sleep(PLANTED_SECONDS)), "/blocking")
    assert stall.all >= stall.own > 0.9 * PLANTED_SECONDS - 0.02  # it may begin between two looks
    assert stall.loop < 0.1


async def test_a_handler_that_computes_is_found():
    stall = await stall_after(service(compute), "/blocking")
    assert min(stall.own, stall.loop) > 0.9 * PLANTED_SECONDS - 0.02


async def test_a_thread_that_sleeps_is_none():
    """One that held the loop up would do so each time; another process may do it once."""
    stalls = [(await stall_after(service(compute), "/in-a-thread")).own for _ in range(3)]
    assert min(stalls) < 0.5 * PLANTED_SECONDS


async def test_the_metrics_are_there_before_anything_was_measured():
    app = service(compute)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        stall = stall_in((await http.get("/metrics")).text)
    assert (stall.all, stall.own, stall.loop) == (0.0, 0.0, 0.0)
