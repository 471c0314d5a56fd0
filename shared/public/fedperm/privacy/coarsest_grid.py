"""The grid for which bounds on integer noise are computed."""

COARSEST_GRID = 16
"""Noise lives on a grid of 1/N. A coarser grid shows more, so bounds for 16 hold for every multiple
of it."""

MANY_STEPS = 1 << 15
"""From so many grid steps b N on, integer and continuous noise agree to nine digits on any grid."""
