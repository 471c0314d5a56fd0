"""The operator's live page: what it shows, who may see it, and the files it is made of."""
