"""Cannot be imported."""

raise RuntimeError("no such data base")
