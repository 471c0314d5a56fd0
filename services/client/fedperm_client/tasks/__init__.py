"""Tasks: which data and which model; `tasks.task` is the seam for one's own."""
