"""What clients upload: a part that the run's document names, behind one interface."""
