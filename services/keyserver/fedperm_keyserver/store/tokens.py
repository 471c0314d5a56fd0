from fedperm_keyserver.stores.clients import TokenStore

__all__ = ["TokenStore"]
