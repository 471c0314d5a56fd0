"""`fedperm privacy`: what a client's run costs in privacy, in every unit that matters."""
