from fedperm_keyserver.stores.access import AccessStore

__all__ = ["AccessStore"]
