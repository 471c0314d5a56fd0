"""What malicious clients can do, with and without norm bounding.

FedPerm with no bound, the paper's bound and the centred bound; FedAvg, where a server sees every
update, with the rules that need to see them as a reference.
"""
