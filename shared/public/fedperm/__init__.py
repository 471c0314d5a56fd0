"""FedPerm's public half: geometry, encoding, encryption and aggregation.

Nothing in this package can hold a secret key; that is `fedperm_secret`.
"""

__version__ = "0.1.0"
