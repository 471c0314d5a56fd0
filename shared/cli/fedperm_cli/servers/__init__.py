"""The two servers as an operator reaches them: where they are, and by which credential."""
