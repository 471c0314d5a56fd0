"""Paillier's scheme with packed masks (ADR 2): big integers never leave this room."""
