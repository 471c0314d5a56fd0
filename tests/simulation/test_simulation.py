"""A whole federation under faults, in one process.

The real key server, the real aggregator and real clients with their state directories work on a
run. Meanwhile any of them is killed at named moments and started again; requests and answers are
lost, doubled, slow or late; disks run full, databases are locked, clocks jump and drift apart;
clients drop out, come back, come late or lose their state; keys are rotated, clients revoked, the
run is stopped; a second aggregator takes over work; and somebody with a client's credentials
replays and forges uploads. `machine` has all operations. Half of the runs are without noise: client
u contributes 1 at coordinate u and 0 elsewhere, as raw integers. In the others clients keep
ledgers.

What counts as failure:

- lost: an upload with a receipt is neither in its published sum nor refused with a true reason; a
  round with enough of them is aborted
- double: a decrypted sum holds anything but each member's update once (without noise: a 2)
- second release: two different bodies leave a client for one round
- a body leaves a client before its ledger has charged exactly these bytes, or is charged twice
- a published aggregate or a settled outcome is told in two ways
- a client's model is not, bit by bit, the initial one plus every average up to its round, once
- a secret key left without a record in the audit log, or the log's chain is broken or shorter
- an answer 5xx other than 503 and 507, or one of these without a cause; another answer to a
  forgery than the protocol's; a refusal of an honest client that no fault explains
- when the faults are over: a run that is not completed, or a client that has not finished, after
  a bounded number of steps; an upload that still lies on the aggregator's disk

What does not: a round that is aborted for want of updates, whose few are dropped and told to be; an
update that comes too late (410); an upload that counts although its sender never got the receipt;
a client that is refused while clocks differ, or after it was revoked; a round that waits longer
because the clock was set back; files that a crash left behind, until the next start.

How a killed process is simulated is told in `lives`. Losing power is not: what was written is there
after a crash. Everything is one thread, so that a sequence is the same each time; what overlaps
does so where the test says. Databases are SQLite's.

The sequences of this test are always the same ones (`derandomize`): it fails for everybody or for
nobody. New ones are tried by `make simulate SECONDS=600`; what fails there can be repeated by seed.
"""

from hypothesis import HealthCheck, settings

from tests.simulation.machine import Simulation

TestSimulation = Simulation.TestCase
TestSimulation.settings = settings(
    max_examples=4,
    stateful_step_count=30,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
