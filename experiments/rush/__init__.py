"""Rush hour at an aggregator: many clients wait, some upload at once, and somebody looks on.

    .venv/bin/python -m experiments.rush --idle 300 --uploads 50

The aggregator is a real process on this machine. Its clients speak the protocol and nothing else:
they neither train nor encrypt (all send one update that was made beforehand), since only the
aggregator is under test. `crowd` and `onlooker` run in processes of their own, so that the
onlooker's times are not those of a busy crowd.

`summary`, `report` and `page` are pure; docs/load-testing.md says what is measured.
"""
