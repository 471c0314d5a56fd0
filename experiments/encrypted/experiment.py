"""The whole experiment: processes up, rounds, processes down, replay."""

from pathlib import Path

from experiments.encrypted.federation import Federation
from experiments.encrypted.figures import EncryptedResult, judge
from experiments.encrypted.setting import Setting
from fedperm_cli.demo.folder import make_folder
from fedperm_cli.errors import FederationError
from fedperm_cli.federation.processes import Processes
from fedperm_cli.progress_lines import Teller
from fedperm_cli.run.watching import View


async def run(setting: Setting, keep: Path | None, view: View, tell: Teller) -> EncryptedResult:
    folder = make_folder(keep)
    tell("folder", str(folder.path))
    with Processes(folder.logs) as processes:
        told = await Federation(setting, folder, processes, tell).run(view)
    if len(told.rounds) != setting.rounds or any(not r.outcome.included for r in told.rounds):
        raise FederationError(
            f"the run ended {told.status.state}: {told.status.reason}", f"see {folder.logs}"
        )
    return judge(told, folder)
