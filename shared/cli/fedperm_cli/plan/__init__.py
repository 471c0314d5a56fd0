"""`fedperm plan`: what a run will cost, before it is made."""
