"""A receiver knows the one header it expects: every other one is refused, and says why."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import BodyError, FedPermError
from tests.wire.refusals import refusal
from tests.wire.small_messages import Message, aggregate_message, update_message

OTHER_DTYPES = {"U8": "I8", "U16": "F16", "U32": "F32"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def compact(document) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def padded(text: bytes) -> bytes:
    return text + b" " * (-len(text) % 8)


def entries(message: Message) -> dict:
    return json.loads(message.header_text)


def spaced(text: bytes, message: Message) -> bytes:
    """At least as long as the right header, so that it is read and not just too short."""
    return text.ljust(len(message.header_text))


def refused_header(message: Message, text: bytes) -> str:
    """What the refusal of the example's data under that header says."""
    return refusal(BodyError, message.decode, message.with_header(text)).message


def test_the_unchanged_header_is_accepted(message):
    """The refusals below are due to what they change, not to how they build a body."""
    rebuilt = message.with_header(padded(compact(entries(message))))
    assert rebuilt == message.body
    message.decode(rebuilt)


def test_every_truncation_is_refused(message):
    for length in range(len(message.body)):
        refusal(BodyError, message.decode, message.body[:length])


@given(extra=st.binary(min_size=1, max_size=64))
def test_appended_bytes_are_refused_with_both_lengths(message, extra):
    said = refusal(BodyError, message.decode, message.body + extra).message
    assert str(len(message.body) + len(extra)) in said
    assert str(len(message.body)) in said


def test_every_flipped_bit_of_the_header_is_refused(message):
    for position in range(8 * len(message.layout.header)):
        damaged = bytearray(message.body)
        damaged[position // 8] ^= 1 << position % 8
        refusal(BodyError, message.decode, bytes(damaged))


def test_a_wrong_dtype_is_refused_by_the_tensors_name(message):
    for name in entries(message):
        changed = entries(message)
        changed[name]["dtype"] = OTHER_DTYPES[changed[name]["dtype"]]
        assert f"tensor {name} is not" in refused_header(message, padded(compact(changed)))


def test_a_wrong_shape_of_the_same_size_is_refused_by_the_tensors_name(message):
    for name in entries(message):
        changed = entries(message)
        changed[name]["shape"].append(1)
        assert f"tensor {name} is not" in refused_header(message, padded(compact(changed)))


def test_wrong_offsets_are_refused_by_the_tensors_name(message):
    for name in entries(message):
        changed = entries(message)
        changed[name]["data_offsets"][0] += 1
        assert f"tensor {name} is not" in refused_header(message, padded(compact(changed)))


def test_a_missing_tensor_is_refused_by_its_name(message):
    for name in entries(message):
        changed = entries(message)
        del changed[name]
        text = spaced(compact(changed), message)
        assert f"tensor {name} is missing" in refused_header(message, text)


def test_a_renamed_tensor_is_refused_as_missing(message):
    for name in entries(message):
        changed = {("x" + key if key == name else key): e for key, e in entries(message).items()}
        assert f"tensor {name} is missing" in refused_header(message, padded(compact(changed)))


def test_an_extra_tensor_is_refused(message):
    extra = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    text = padded(compact(entries(message) | {"extra": extra}))
    assert "1 unexpected header entries" in refused_header(message, text)


def test_metadata_is_refused(message):
    text = padded(compact({"__metadata__": {"format": "np"}} | entries(message)))
    assert "1 unexpected header entries" in refused_header(message, text)


def test_a_duplicate_key_is_refused(message):
    name, entry = next(iter(entries(message).items()))
    doubled = b"{" + compact(name) + b":" + compact(entry) + b"," + message.header_text.strip()[1:]
    assert "duplicates" in refused_header(message, padded(doubled))


@pytest.mark.parametrize(
    "reformat",
    [
        lambda entries: json.dumps(entries).encode(),
        lambda entries: json.dumps(entries, indent=1).encode(),
        lambda entries: b" " + compact(entries),
        lambda entries: compact(entries) + b"\n",
        lambda entries: padded(compact(entries)) + b" " * 8,
    ],
    ids=["spaces", "indented", "leading space", "newline", "eight more spaces"],
)
def test_white_space_is_refused(message, reformat):
    assert "white space" in refused_header(message, reformat(entries(message)))


@pytest.mark.parametrize("build", [update_message, aggregate_message])
def test_another_order_of_the_tensors_is_refused(build):
    message = build()
    turned = dict(reversed(entries(message).items()))
    assert "key order" in refused_header(message, padded(compact(turned)))


@pytest.mark.parametrize("claim", [2**12 + 1, 10**9, 2**63, 2**64 - 1])
def test_a_huge_claimed_header_is_refused_by_its_claim_without_reading_it(message, claim):
    body = claim.to_bytes(8, "little") + message.body[8:]
    said = refusal(BodyError, message.decode, body).message
    assert f"claims {claim} bytes" in said


def test_a_header_longer_than_any_explanation_is_refused_by_its_claim(message):
    text = message.header_text + b" " * 5000
    assert f"claims {len(text)} bytes" in refused_header(message, text)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"\xff\xfe\xfd" * 20, b"n" * 64, b"{}" * 32],
    ids=["empty", "open brace", "no text", "words", "two documents"],
)
def test_a_header_that_is_not_json_is_refused(message, text):
    assert refused_header(message, spaced(text, message)) == "the header is not JSON"


@pytest.mark.parametrize("text", [b"null", b"[]", b'"n"', b"17", b"NaN", b"9" * 4096])
def test_a_header_that_is_not_an_object_is_refused(message, text):
    said = refused_header(message, spaced(text, message))
    assert said == "the header is not a JSON object"


@pytest.mark.parametrize("opening", [b"[", b'{"":'])
def test_a_deeply_nested_header_is_refused(message, opening):
    refused_header(message, opening * (4096 // len(opening)))


def test_a_header_in_another_encoding_is_refused(message):
    refused_header(message, message.header_text.decode().encode("utf-16"))


@given(document=json_values)
def test_any_json_document_as_header_is_refused(message, document):
    refused_header(message, json.dumps(document).encode())


@given(text=st.binary(max_size=300))
def test_any_bytes_as_header_are_refused(message, text):
    refused_header(message, text)


@given(body=st.binary(max_size=2000))
def test_random_bytes_are_refused(message, body):
    refusal(BodyError, message.decode, body)


@given(data=st.data())
def test_random_data_are_refused_or_exactly_what_encoding_writes(message, data):
    """Under the right header only typed errors come out, and nothing is silently corrected."""
    size = len(message.data)
    body = message.layout.header + data.draw(st.binary(min_size=size, max_size=size))
    try:
        decoded = message.decode(body)
    except FedPermError:
        return
    assert message.encode(decoded) == body
