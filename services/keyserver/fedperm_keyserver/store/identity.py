from fedperm_keyserver.stores.keys import IdentityStore

__all__ = ["IdentityStore"]
