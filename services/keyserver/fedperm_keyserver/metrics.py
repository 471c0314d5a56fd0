"""What the key server counts; names of keys and clients are no labels."""

from prometheus_client import CollectorRegistry, Counter

from fedperm.services import SERVICES


class KeyServerMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.enrolments = Counter(
            "fedperm_keyserver_enrolments",
            "Attempts to enrol: new, again (the same answer as before) or refused",
            ["result"],
            registry=registry,
        )
        self.access_tokens = Counter(
            "fedperm_keyserver_access_tokens",
            "Access tokens granted, by audience",
            ["audience"],
            registry=registry,
        )
        self.releases = Counter(
            "fedperm_keyserver_releases", "Secret keys released to clients", registry=registry
        )
        self.tampering = Counter(
            "fedperm_keyserver_tampering",
            "Refusals because of a row that the key server has not written so, by table",
            ["table"],
            registry=registry,
        )
        for result in ("new", "again", "refused"):  # from the start, at 0: rates need two values
            self.enrolments.labels(result)
        for table in ("keys", "epochs", "enrolment_tokens", "clients", "audit_entries"):
            self.tampering.labels(table)
        for service in SERVICES.values():
            self.access_tokens.labels(service.audience)
