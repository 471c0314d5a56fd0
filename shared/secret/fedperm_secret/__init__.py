"""FedPerm's secret half: keys, decryption and fast encryption with p and q.

Installed by the key server and the clients only; the aggregator's image does not contain it.
"""
