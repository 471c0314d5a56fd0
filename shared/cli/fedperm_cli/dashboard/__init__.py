"""`fedperm dashboard`: the page on the operator's machine, read from the aggregator's interface."""
