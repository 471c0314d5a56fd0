"""Work that survives a crash: jobs in the database, leased and carried out.

`runner` claims jobs and retries them; `check` and `fold` are the two kinds; `pool` has the worker
processes that do their arithmetic.
"""
