"""An upload that holds a factor of the public key: an honest one but for one ciphertext."""

from gmpy2 import mpz

from fedperm_secret.access import SECRET_KEY_ACCESS
from tests.aggregator.bench import Bench
from tests.aggregator.parties import Client, Prepared
from tests.wire.small_messages import update_body


def with_factor(bench: Bench, client: Client, number: int, epoch: int = 1) -> Prepared:
    honest, pair = bench.prepare(client, number, epoch), bench.pair(epoch)
    p, _ = pair.factors(SECRET_KEY_ACCESS)
    at = update_body(bench.document.content.plan).offset_of("masks")
    octets = mpz(3 * p).to_bytes(pair.public_key.ciphertext_bytes, "little")
    body = honest.body[:at] + octets + honest.body[at + len(octets) :]
    manifest = client.manifest(bench.document, number, epoch, body)
    return Prepared(body, manifest, honest.coded, honest.shuffled)
