"""What a run costs in privacy: events, bounds, accountants, calibration, ledger and report."""
