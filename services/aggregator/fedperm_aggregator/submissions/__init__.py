"""What clients send in a round: `rules` say what may be stored, `intake` receives it."""
