"""The header that states a body's SHA-256, against the example of RFC 9530."""

import pytest

from fedperm.errors import InvalidRequestError
from fedperm.wire.digest import CONTENT_DIGEST, content_digest, parse_content_digest, sha256_of

BODY = b'{"hello": "world"}\n'
HEADER = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"  # RFC 9530, section 2


def test_the_header_has_the_name_and_form_of_the_rfc():
    assert CONTENT_DIGEST == "Content-Digest"
    assert content_digest(sha256_of(BODY)) == HEADER
    assert parse_content_digest(HEADER) == sha256_of(BODY)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        HEADER[:-1],
        HEADER + " ",
        HEADER + ", " + HEADER,
        HEADER.replace("sha-256", "SHA-256"),
        HEADER.replace("sha-256", "sha-512"),
        HEADER.replace("/", "_"),
        HEADER.replace("=:", ":", 1),
        "sha-256=::",
    ],
    ids=repr,
)
def test_every_other_header_is_refused(header):
    with pytest.raises(InvalidRequestError):
        parse_content_digest(header)
