"""How masks and sums are encrypted: one interface, and a room for each scheme behind it."""
