from fedperm_keyserver.stores.tokens import TokenStore

__all__ = ["TokenStore"]
