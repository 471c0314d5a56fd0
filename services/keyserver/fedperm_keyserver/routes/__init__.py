"""Handlers: parse, one call, render. Not async: they wait for the database and for big numbers,
so the framework runs them in threads."""
