"""Typed clients of both REST interfaces; the only rooms that know httpx."""
