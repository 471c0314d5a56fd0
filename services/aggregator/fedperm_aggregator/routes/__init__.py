"""HTTP: parse, one call, render. Nothing else."""
