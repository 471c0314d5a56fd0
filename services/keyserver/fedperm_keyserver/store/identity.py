from fedperm_keyserver.stores.identity import IdentityStore

__all__ = ["IdentityStore"]
