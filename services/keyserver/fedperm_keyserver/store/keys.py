from fedperm_keyserver.stores.keys import KeyStore

__all__ = ["KeyStore"]
