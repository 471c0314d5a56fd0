"""The whole experiment: processes up, rounds, processes down, replay."""

from pathlib import Path

from experiments.encrypted import recording_client
from experiments.encrypted.figures import EncryptedResult, judge
from experiments.encrypted.setting import Setting
from fedperm_cli.demo.federation import DemoFederation, Limits
from fedperm_cli.demo.folder import demo_folder
from fedperm_cli.errors import FederationError
from fedperm_cli.federation.processes import Processes
from fedperm_cli.progress_lines import Teller
from fedperm_cli.run.watching import View

LIMITS = Limits(servers_start_seconds=120.0, clients_end_seconds=300.0)


async def run(setting: Setting, keep: Path | None, view: View, tell: Teller) -> EncryptedResult:
    folder = demo_folder(keep)
    tell("folder", str(folder.path))
    with Processes(folder.logs) as processes:
        federation = DemoFederation(
            setting.demo,
            folder,
            processes,
            tell,
            setting.run,
            recording_client.__name__,
            LIMITS,
        )
        finished = await federation.run(view)
    rounds, status = finished.rounds, finished.status
    if len(rounds) != setting.rounds or any(not round_.outcome.included for round_ in rounds):
        raise FederationError(
            f"the run ended {status.state}: {status.reason}", f"see {folder.logs}"
        )
    return judge(finished, folder)
