"""Chromium without a screen, and everything that a page does in it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Page, Response, sync_playwright

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
LARGE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PATIENCE_MILLISECONDS = 90_000


def chromium() -> str:
    """The path of an installed one."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    return found


@dataclass
class Record:
    """What the page said and asked for since it was opened."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    octets: dict[str, int] = field(default_factory=dict)

    def attach(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("response", self._came)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.errors.append(f"{message.text} at {message.location['url']}")

    def _came(self, response: Response) -> None:
        length = response.headers.get("content-length")
        if length is not None and response.status == 200:
            self.octets[response.url] = int(length)


@contextmanager
def opened_page() -> Iterator[tuple[Page, Record]]:
    path = chromium()
    with sync_playwright() as playwright:
        # the sandbox cannot be had by root, and nothing but our own page is opened
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_context(viewport=LARGE, reduced_motion="reduce").new_page()
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        record = Record()
        record.attach(page)
        yield page, record
        browser.close()


def violations(page: Page) -> list[str]:
    """What axe-core finds, in a line each; evaluated beside the page, so its policy holds."""
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("axe.run()")
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']]}"
        for one in found["violations"]
    ]
