class Environment:
    host: str | None
