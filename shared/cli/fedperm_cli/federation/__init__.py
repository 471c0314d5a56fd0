"""Federations on this machine, for the demo, the containers' operator, experiments and tests.

`processes` starts, watches and ends processes; `launcher` turns settings into the processes of
servers and clients in one `folder`; `operation` is what the operators do with the servers, wherever
these run. `guard` and `interruption` end the work when a process or the user ends it.
"""
