"""`fedperm audit`: whether the key server's log is whole."""
