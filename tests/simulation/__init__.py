"""A whole federation in one thread, under faults; `test_simulation` says what counts as failure."""
