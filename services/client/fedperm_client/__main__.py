"""`python -m fedperm_client`: one client, until its run is over.

Settings come from FEDPERM_CLIENT_* (see `settings`). Exit codes:

0    the run is over; summary.json is in the state directory
1    something failed: a server refused or did not answer in time, an answer failed a check, the
     task cannot be trained, the state is damaged
2    a setting is missing, unknown or impossible
3    this client refuses: the run passes its ceilings, or its privacy budget is spent
4    the run ended early: the aggregator calls it over, and rounds of its document are missing;
     summary.json says "ended early"
130, 143    stopped by SIGINT or SIGTERM; started again, it goes on where it was
"""

import asyncio
import logging
import signal
import sys

import torch

from fedperm.api.connection import Patience
from fedperm.clock import SystemClock
from fedperm.crash_points import warn_if_compiled_in
from fedperm.errors import FedPermError, PrivacyError, SettingsError
from fedperm.logs import configure_logs
from fedperm.randomness import from_operating_system
from fedperm_client.ending import Ending
from fedperm_client.environment import environment
from fedperm_client.participant import Participant
from fedperm_client.peers import connect
from fedperm_client.settings import ClientSettings

log = logging.getLogger(__name__)

DONE, FAILED, WRONG_SETTINGS, REFUSED, ENDED_EARLY, SIGNALLED = 0, 1, 2, 3, 4, 128


def main() -> int:
    configure_logs(stream=sys.stderr)
    try:
        settings = ClientSettings.from_environment()
        configure_logs(settings.log_level, sys.stderr)
        warn_if_compiled_in()
        torch.set_num_threads(settings.torch_threads)
        return asyncio.run(_until_signalled(settings))
    except FedPermError as error:
        log.error("%s", error)  # noqa: TRY400 (said in words; a traceback would hide them)
        return exit_code(error)
    except Exception:
        log.exception("this client failed unexpectedly")
        return FAILED


def exit_code(error: FedPermError) -> int:
    if isinstance(error, SettingsError):
        return WRONG_SETTINGS
    return REFUSED if isinstance(error, PrivacyError) else FAILED


async def _until_signalled(settings: ClientSettings) -> int:
    """What is on disk is whole at every moment, so the work is simply abandoned."""
    work = asyncio.ensure_future(_take_part(settings))
    received: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        received.append(number)
        work.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        ending = await work
    except asyncio.CancelledError:
        if not received:
            raise
        log.info("stopped by %s", received[0].name)
        return SIGNALLED + received[0]
    return ENDED_EARLY if ending is Ending.ENDED_EARLY else DONE


async def _take_part(settings: ClientSettings) -> Ending:
    patience = Patience(settings.patience_seconds, first_pause_seconds=0.5)
    urls = settings.keyserver_url, settings.aggregator_url
    async with connect(*urls, settings.ca_file) as peers:
        with environment(settings, peers, SystemClock(), from_operating_system()) as given:
            return await Participant(given, patience).run()


if __name__ == "__main__":
    sys.exit(main())
