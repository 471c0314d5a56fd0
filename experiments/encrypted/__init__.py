"""A real encrypted federation on MNIST, and the simulation that replays what its clients sent.

Key server, aggregator and clients are processes of their own. The clients write down what they
upload and how they shuffled it; the simulation adds these integers up in the clear and must arrive
at the same model, to the last bit, after every round.
"""
