"""Everything that `docs/results.md` shows: measured, kept in files, drawn and written up."""
