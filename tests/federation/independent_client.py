"""A FedPerm client written from docs/protocol.md alone: it imports nothing of ours.

HTTP by httpx, Paillier by python-paillier, signatures and HPKE by pyca/cryptography, bodies by the
safetensors library. It trains nothing: its update is the same number in every coordinate, with
noise as the protocol says. At the end it prints one JSON object: the integer sums that it
decrypted in every round, the values that it sent, and the hash of its parameters. It does not vouch
for checkpoints, and does not start from one: the protocol leaves both to a client.
"""

import argparse
import base64
import hashlib
import json
import math
import secrets
import sys
import time
from random import SystemRandom

import httpx
import numpy as np
import phe
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from safetensors.numpy import load, save

RANDOM = SystemRandom()
SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
BULK = "application/vnd.safetensors"


def text(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def octets(encoded: str) -> bytes:
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def verified(typ: str, jws: str, public_key: str) -> dict:
    header, payload, signature = jws.split(".")
    key = Ed25519PublicKey.from_public_bytes(octets(public_key))
    key.verify(octets(signature), f"{header}.{payload}".encode())
    assert json.loads(octets(header)) == {"alg": "EdDSA", "typ": typ}
    return json.loads(octets(payload))


class Identity:
    """This client's two key pairs, and the key server's key once it is known."""

    def __init__(self) -> None:
        self.signing = Ed25519PrivateKey.generate()
        self.sealing = X25519PrivateKey.generate()
        self.name = ""
        self.server_key = ""

    def sign(self, typ: str, payload: dict) -> str:
        header = json.dumps({"alg": "EdDSA", "typ": typ}).encode()
        signed = f"{text(header)}.{text(json.dumps(payload).encode())}"
        return f"{signed}.{text(self.signing.sign(signed.encode()))}"

    def verify(self, typ: str, jws: str) -> dict:
        """What the key server signed."""
        return verified(typ, jws, self.server_key)


class KeyServer:
    def __init__(self, url: str, key: str, identity: Identity) -> None:
        self.http = httpx.Client(base_url=url, timeout=60)
        self.key = key
        self.identity = identity

    def enrol(self, token: str) -> None:
        me = self.identity
        claims = {
            "key": self.key,
            "aud": token.split(".")[3],
            "token": sha256(token.encode()),
            "signing_key": text(me.signing.public_key().public_bytes_raw()),
            "sealing_key": text(me.sealing.public_key().public_bytes_raw()),
        }
        proof = me.sign("fedperm-enrolment+jwt", claims)
        answer = self.http.post(
            f"/v1/keys/{self.key}/clients", json={"token": token, "proof": proof}
        )
        enrolled = checked(answer).json()
        me.name = enrolled["client"]
        me.server_key = enrolled["key_server"]["signing_key"]
        assert sha256(octets(me.server_key)) == token.split(".")[3], "not the token's key server"

    def access_token(self, audience: str) -> str:
        now = int(time.time())
        assertion = {
            "iss": self.identity.name,
            "aud": sha256(octets(self.identity.server_key)),
            "key": self.key,
            "iat": now,
            "exp": now + 120,
            "jti": secrets.token_hex(16),
        }
        signed = self.identity.sign("fedperm-assertion+jwt", assertion)
        answer = self.http.post(
            "/v1/access-tokens", json={"assertion": signed, "audience": audience}
        )
        return checked(answer).json()["access_token"]

    def newest_epoch(self) -> int:
        nonce = secrets.token_hex(16)
        answer = self.http.get(
            f"/v1/keys/{self.key}/newest-epoch/{nonce}",
            headers=bearer(self.access_token("fedperm-keyserver")),
        )
        notice = self.identity.verify("fedperm-newest+jwt", checked(answer).json()["notice"])
        assert (notice["key"], notice["nonce"]) == (self.key, nonce), (
            "an answer to another question"
        )
        return notice["epoch"]

    def epoch_record(self, epoch: int) -> str:
        return checked(self.http.get(f"/v1/keys/{self.key}/epochs/{epoch}")).json()["record"]

    def secret_key(self, record: dict) -> phe.PaillierPrivateKey:
        """Of a verified epoch record."""
        answer = self.http.post(
            f"/v1/keys/{self.key}/epochs/{record['epoch']}/releases",
            headers=bearer(self.access_token("fedperm-keyserver")),
        )
        release = self.identity.verify("fedperm-release+jwt", checked(answer).json()["release"])
        place = (release["key"], release["epoch"], release["client"])
        assert place == (self.key, record["epoch"], self.identity.name)
        info = b"\x00".join(
            part.encode() for part in ("fedperm/1 secret key", place[0], str(place[1]), place[2])
        )
        opened = json.loads(SUITE.decrypt(octets(release["sealed"]), self.identity.sealing, info))
        p, q, n = int(opened["p"], 16), int(opened["q"], 16), int(record["public"]["n"], 16)
        assert p * q == n, "the secret key is not that of the signed record"
        return phe.PaillierPrivateKey(phe.PaillierPublicKey(n), p, q)


class Numbers:
    """What follows from the run's document: protocol.md, "Numbers and bodies"."""

    def __init__(self, document: dict) -> None:
        self.d = sum(math.prod(tensor["shape"]) for tensor in document["model"]["tensors"])
        self.k1, self.k2 = document["shuffle"]["k1"], document["shuffle"]["k2"]
        self.clip, self.b = document["noise"]["clip"], document["noise"]["laplace_scale"]
        self.grid = document["noise"]["grid"]
        self.bits, self.key_bits = document["value_bits"], document["key"]["parameters"]["key_bits"]
        self.windows = -(-self.d // self.k1)
        self.patterns = min(self.k2, self.windows)
        self.top = 2**self.bits - 1
        self.slot_bits = (document["rounds"]["clients_per_round"] * self.top).bit_length()
        self.slots = (self.key_bits - 2) // self.slot_bits
        self.groups = -(-self.k1 // self.slots)
        self.ciphertext_octets = self.key_bits // 4
        self.dtype = np.uint8 if self.bits <= 8 else np.uint16 if self.bits <= 16 else np.uint32
        self.reach = 0.5 + 8 * self.b
        self.step = 2 * self.reach / self.top

    def coded(self, number: float) -> np.ndarray:
        """The same number everywhere, normalised, noised on the grid and coded at random."""
        normalised = (max(-self.clip, min(self.clip, number)) + self.clip) / (2 * self.clip)
        values = [normalised] * self.d + [0.5] * (self.windows * self.k1 - self.d)
        coded = [self._code(self._noised(value)) for value in values]
        return np.array(coded, self.dtype).reshape(self.windows, self.k1)

    def _noised(self, value: float) -> float:
        if self.b == 0:
            return value
        return (rounded(value * self.grid) + laplace(self.b * self.grid)) / self.grid

    def _code(self, value: float) -> int:
        low = 0.5 - self.reach
        return rounded(min(max((value - low) / self.step, 0), self.top))

    def mean(self, sums: np.ndarray, contributors: int) -> np.ndarray:
        z = (0.5 - self.reach) + self.step * (sums.reshape(-1)[: self.d] / contributors)
        return self.clip * (2 * z - 1)


def rounded(value: float) -> int:
    floor = math.floor(value)
    return floor + (RANDOM.random() < value - floor)


def laplace(scale: float) -> int:
    """An integer k with probability proportional to e^(-|k| / scale): a difference of two
    geometric numbers."""
    return geometric(scale) - geometric(scale)


def geometric(scale: float) -> int:
    return math.floor(-math.log(1 - RANDOM.random()) * scale)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def checked(answer: httpx.Response) -> httpx.Response:
    assert answer.is_success, answer.text
    return answer


class Participant:
    def __init__(self, url: str, run: str, key_server: KeyServer, number: float) -> None:
        self.http = httpx.Client(base_url=f"{url}/v1/runs/{run}", timeout=60)
        self.run = run
        self.key_server = key_server
        self.me = key_server.identity
        self.number = number
        self.secret_keys: dict[int, phe.PaillierPrivateKey] = {}
        self.sums: dict[int, list[int]] = {}
        self.sent: dict[int, list[int]] = {}

    def get(self, path: str, **parameters: str) -> httpx.Response:
        headers = bearer(self.key_server.access_token("fedperm-aggregator"))
        return checked(self.http.get(path, headers=headers, params=parameters))

    def put(self, path: str, **more: object) -> httpx.Response:
        headers = bearer(self.key_server.access_token("fedperm-aggregator"))
        headers |= more.pop("headers", {})
        return checked(self.http.put(path, headers=headers, **more))

    def join(self) -> None:
        answer = self.get("/document")
        raw, signature = answer.content, answer.headers["Fedperm-Document-Signature"]
        self.document_hash = sha256(raw)
        document = json.loads(raw)
        assert document["protocol"] == "fedperm/3"
        self.run, self.operator = document["run"], document["operator"]
        signed = verified("fedperm-document+jwt", signature, self.operator["signing_key"])
        assert signed == {"run": document["run"], "document": self.document_hash}
        assert document["key"]["signing_key"] == self.me.server_key
        self.numbers = Numbers(document)
        initial = self.get("/initial-model").content
        assert sha256(initial) == document["model"]["initial_sha256"]
        self.parameters = load(initial)["parameters"]
        joining = {"document": self.document_hash, "protocol": "fedperm/3"}
        self.put(f"/participants/{self.me.name}", json=joining)

    def take_part(self) -> None:
        settled = 0
        while True:
            path = f"/participants/{self.me.name}/task"
            task = self.get(path, settled=str(settled), wait_seconds="5").json()
            if task["kind"] == "train":
                self.train(task["round"], task["epoch"])
            elif task["kind"] == "settle":
                settled = task["round"]
                self.settle(settled)
            elif task["kind"] == "finish":
                return

    def key(self, epoch: int) -> phe.PaillierPrivateKey:
        if epoch not in self.secret_keys:
            for entry in self.get("/key-epochs").json()["epochs"]:
                record = self.me.verify("fedperm-epoch+jwt", entry["record"])
                if record["epoch"] == epoch and record["key"] == self.key_server.key:
                    self.secret_keys[epoch] = self.key_server.secret_key(record)
        return self.secret_keys[epoch]

    def train(self, number: int, epoch: int) -> None:
        newest = self.key_server.newest_epoch()
        if epoch < newest:
            record = {"record": self.key_server.epoch_record(newest)}
            self.put(f"/rounds/{number}/declines/{self.me.name}", json=record)
            return
        values = self.numbers.coded(self.number)
        self.sent[number] = values.reshape(-1).tolist()
        body = self.update(values, self.key(epoch).public_key)
        manifest = {
            "run": self.run,
            "document": self.document_hash,
            "round": number,
            "epoch": epoch,
            "client": self.me.name,
            "kind": "update",
            "sha256": sha256(body),
            "size": len(body),
            "tensors": {name: sha256(array.tobytes()) for name, array in load(body).items()},
        }
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        self.put(
            f"/rounds/{number}/updates/{self.me.name}",
            content=body,
            headers={
                "Content-Type": BULK,
                "Content-Digest": f"sha-256=:{digest}:",
                "Fedperm-Manifest": self.me.sign("fedperm-manifest+jwt", manifest),
            },
        )

    def update(self, values: np.ndarray, key: phe.PaillierPublicKey) -> bytes:
        numbers = self.numbers
        patterns = [RANDOM.sample(range(numbers.k1), numbers.k1) for _ in range(numbers.patterns)]
        shuffled = np.stack([values[x][patterns[x % numbers.k2]] for x in range(numbers.windows)])
        masks = b"".join(
            key.raw_encrypt(self.plaintext(row, group)).to_bytes(
                numbers.ciphertext_octets, "little"
            )
            for pattern in patterns
            for group in range(numbers.groups)
            for row in pattern
        )
        shape = (numbers.patterns, numbers.groups, numbers.k1, numbers.ciphertext_octets)
        return save({"values": shuffled, "masks": np.frombuffer(masks, np.uint8).reshape(shape)})

    def plaintext(self, row: int, group: int) -> int:
        """2^(slot bits * slot) in the group in which the row falls, else 0."""
        own, slot = divmod(row, self.numbers.slots)
        return 1 << (self.numbers.slot_bits * slot) if own == group else 0

    def settle(self, number: int) -> None:
        outcome = self.get(f"/rounds/{number}").json()
        if outcome["state"] == "aborted":
            return
        body = self.get(f"/rounds/{number}/aggregate").content
        assert sha256(body) == outcome["aggregate"]["sha256"]
        aggregate = load(body)
        contributors = int(aggregate["contributors"][0])
        assert contributors == len(outcome["included"])
        sums = self.decrypted(aggregate["ciphertexts"], self.key(outcome["epoch"]))
        assert sums.max() <= contributors * self.numbers.top
        self.sums[number] = sums.reshape(-1).tolist()
        self.parameters = self.parameters + self.numbers.mean(sums, contributors)

    def report(self, number: int, measured: dict) -> None:
        """What it measured for the operator alone, filled up to 512 octets; the rest for all."""
        seconds = dict.fromkeys(("train", "randomize", "encrypt", "upload", "decrypt"), 0.5)
        place = (self.run, self.document_hash, str(number), self.me.name)
        info = "\x00".join(("fedperm/3 report", *place)).encode()
        to = X25519PublicKey.from_public_bytes(octets(self.operator["sealing_key"]))
        sealed = SUITE.encrypt(json.dumps(measured).encode().ljust(512), to, info)
        told = {"seconds": seconds, "bytes_up": 1000, "bytes_down": 100, "sealed": text(sealed)}
        self.put(f"/rounds/{number}/reports/{self.me.name}", json=told)

    def decrypted(self, ciphertexts: np.ndarray, key: phe.PaillierPrivateKey) -> np.ndarray:
        """The integer sums, one row a window."""
        numbers = self.numbers
        windows = []
        for groups in ciphertexts:
            slots: list[int] = []
            for group, raw in enumerate(groups):
                plain = key.raw_decrypt(int.from_bytes(raw.tobytes(), "little"))
                rows = min(numbers.slots, numbers.k1 - group * numbers.slots)
                assert plain.bit_length() <= rows * numbers.slot_bits
                mask = (1 << numbers.slot_bits) - 1
                slots += [plain >> (numbers.slot_bits * s) & mask for s in range(rows)]
            windows.append(slots)
        return np.array(windows, np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("keyserver", "aggregator", "key", "run", "token"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--number", type=float, default=0.0)
    options = parser.parse_args()
    key_server = KeyServer(options.keyserver, options.key, Identity())
    key_server.enrol(options.token)
    participant = Participant(options.aggregator, options.run, key_server, options.number)
    participant.join()
    participant.take_part()
    report = {
        "client": key_server.identity.name,
        "sums": participant.sums,
        "sent": participant.sent,
        "parameters_sha256": sha256(save({"parameters": participant.parameters})),
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
