"""What `fedperm run create` says: the document's hash, why it is so, and what it costs."""

import json
from pathlib import Path
from typing import Any

from fedperm.privacy.rendering import as_json, as_text
from fedperm.privacy.report import PrivacyReport
from fedperm.wire.aggregator import RunStatus
from fedperm_cli.pages import facts, heading, indented, show, warning_lines
from fedperm_cli.run.planning import PlannedRun
from fedperm_cli.run.privacy import NO_NOISE


def created_document(planned: PlannedRun, status: RunStatus | None) -> str:
    """One JSON object; `status` is null where nothing was sent."""
    noise = planned.average_noise
    result: dict[str, Any] = {
        "run": planned.document.content.run,
        "document": planned.document.sha256,
        "status": None if status is None else status.model_dump(mode="json"),
        "reasons": planned.reasons,
        "average_noise": None if noise is None else noise.members(),
        "warnings": planned.warnings,
        "privacy": privacy_document(planned.report),
    }
    return json.dumps(result)


def print_created(planned: PlannedRun, status: RunStatus) -> None:
    rows = (
        ("run", status.run),
        ("document", status.document),
        ("state", status.state.value),
        ("key epoch", str(status.epoch)),
    )
    show(facts(*rows))
    _print_plan(planned)
    show("", f"follow it with: fedperm run watch {status.run}")


def print_planned(planned: PlannedRun, file: Path) -> None:
    run = planned.document.content.run
    show(facts(("run", run), ("document", planned.document.sha256), ("file", str(file))))
    _print_plan(planned)


def privacy_text(report: PrivacyReport | None) -> str:
    return NO_NOISE if report is None else as_text(report)


def privacy_document(report: PrivacyReport | None) -> dict[str, Any] | None:
    return None if report is None else json.loads(as_json(report))


def _print_plan(planned: PlannedRun) -> None:
    noise = planned.average_noise
    lines = [] if noise is None else [noise.words(planned.document.content.noise.clip)]
    warnings = warning_lines(planned.warnings)
    show(heading("Plan"), *map(indented, [*planned.reasons, *lines, *warnings]))
    show("", privacy_text(planned.report))
