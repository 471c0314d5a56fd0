"""The operator's live page: what it shows, who may see it, and the files it is made of. A server
that has it gives a `RunSource`; nothing else on the page knows which server that is."""
