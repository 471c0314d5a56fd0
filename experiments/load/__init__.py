"""A federation of containers under load: everything is real but there is nothing to learn.

    .venv/bin/python -m experiments.load --clients 20 --rounds 3
    .venv/bin/python -m experiments.load --compare 5,30

`summary`, `usage`, `report`, `comparison`, `page` and `figure` are pure; `federation`, `sampling`
and `interface` talk to Docker and to the aggregator. docs/load-testing.md says what is measured.
"""
