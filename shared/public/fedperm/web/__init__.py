"""What both servers share at the edge: problems, limits, health, metrics, credentials."""
