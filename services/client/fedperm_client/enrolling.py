"""The first stage of a client: it gets its identity, the kept one or one from the key server."""

import logging

from fedperm_client.access import Access
from fedperm_client.audit_witness import AuditWitness
from fedperm_client.environment import Environment
from fedperm_client.identity import ClientKeys, enrol, kept_identity
from fedperm_client.joining import Joining
from fedperm_client.session import Session
from fedperm_client.taking_part import Stage

log = logging.getLogger(__name__)


class Enrolling:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    async def step(self) -> Stage:
        environment, settings = self._environment, self._environment.settings
        state, peers = environment.state, environment.peers
        keys = ClientKeys.kept_at(state.keys, environment.randomness)
        identity = kept_identity(state.enrolled, keys, settings.key)
        if identity is None:
            token = settings.token()  # a missing one is told at once, whether servers answer or not
            await peers.check_key_server()
            identity = await enrol(state.enrolled, keys, settings.key, token, peers.key_server)
            log.info("enrolled as %s for the key %s", identity.name, settings.key)
        else:
            await peers.check_key_server()
            log.info("this is %s, enrolled before for the key %s", identity.name, settings.key)
        identity = identity.following(await peers.key_server.identity())
        access = Access(identity, peers.key_server, environment.clock, environment.randomness)
        witness = AuditWitness(state.audit_witness, identity, settings.lost_audit_head)
        return Joining(environment, Session(identity, settings.run, peers, access, witness))
