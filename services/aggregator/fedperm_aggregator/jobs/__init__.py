"""Work that survives a crash: jobs in the database, leased and carried out.

`background` ticks; `runner` claims jobs and retries them; `check` and `fold` handle the two kinds;
`pool` has the workers that do their arithmetic.
"""
