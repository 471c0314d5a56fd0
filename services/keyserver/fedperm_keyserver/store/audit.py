from fedperm_keyserver.stores.audit import AuditStore

__all__ = ["AuditStore"]
