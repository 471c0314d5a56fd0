"""The cheapest request that costs a server most: by an outsider, and by an enrolled client.

    .venv/bin/python -m experiments.cheapest_request

Both servers are real processes on this machine. Each kind of request is sent a few hundred times
over one connection by a process of its own that has its octets beforehand, as an attacker would:
the server's CPU a request, and the sender's, are the kernel's counts. Then four connections send
the worst of each sender as fast as they are answered, while somebody asks /livez. Limits by caller
are lifted where the cost of a request is measured: every one is dealt with. Last, connections that
never read their answers take all places of a server.

CPU is hardly touched by what else the machine does; times of answers are, so they are taken several
times over, and the best of them counts.
"""
