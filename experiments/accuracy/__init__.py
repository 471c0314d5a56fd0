"""What privacy costs in accuracy: FedPerm and the paper's baselines on MNIST.

Clients train, randomize and are averaged by the product's own code. Only the encryption is left
out: the integers that it would add up are added up in the clear, which a test shows to be the same.
"""
