"""`fedperm run`: the run operator's runs, from options to a document to a live view."""
