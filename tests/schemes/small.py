"""The quickest parameters of every scheme that tests run. A scheme that is missing here is not
tested: see test_contract."""

from collections.abc import Mapping

from tests.schemes.clear import Clear

SMALL: Mapping[str, Mapping[str, int]] = {"paillier": {"key_bits": 512}, Clear.name: {}}
