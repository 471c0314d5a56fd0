from fedperm_keyserver.stores.clients import AccessStore

__all__ = ["AccessStore"]
