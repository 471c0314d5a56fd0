"""A whole federation of real processes, killed at random moments, over a bad network.

`python -m tests.chaos --kills 50` is the long run (`make chaos`). What counts as failure:

lost             an upload was answered with 2xx, its round was published, and the sum is without it
double           a client's coordinate moved further than the rounds that it is in explain
second release   two different bodies of one client for one round left it, or its ledger says so
split            two clients hold different parameters after the same rounds
given up         a process ended although nobody killed it

What does not: a round that is aborted because too few clients were there, an upload that came too
late, a request that is refused or cut and sent again.
"""
