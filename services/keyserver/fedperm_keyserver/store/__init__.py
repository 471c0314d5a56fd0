"""The old name of `stores`, for tests/stores alone; to be removed with its last import."""
