from fedperm_keyserver.stores.clients import ClientStore

__all__ = ["ClientStore"]
