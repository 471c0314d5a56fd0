"""The grid for which bounds on integer noise are computed."""

COARSEST_GRID = 16
"""Noise lives on a grid of 1/N. A coarser grid shows more, so bounds for 16 hold for every multiple
of it. (Above b of about 1000 the product uses fewer cells, but then noise spans so many of them
that both laws agree to nine digits.)"""
