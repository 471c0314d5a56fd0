"""Local training: from a client's records to an update of the model."""
