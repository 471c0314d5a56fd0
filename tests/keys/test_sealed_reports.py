"""Reports open for the operator, in their place, and show nothing before."""

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import UntrustedError
from fedperm.wire.aggregator import (
    MEASURED_OCTETS,
    SEALED_CHARACTERS,
    ClientSeconds,
    Measured,
    TestMetrics,
    in_tenths,
)
from fedperm.wire.public_keys import from_text, to_text
from fedperm_secret.key_pairs import KeyPairs
from fedperm_secret.sealed_reports import ReportPlace

OPERATOR = KeyPairs.drawn(Random(1))
PLACE = ReportPlace("demo", "d" * 64, 3, "ada")
MEASURED = Measured(test=TestMetrics(accuracy=0.5, loss=1.25), train_loss=0.5)

finite = st.floats(allow_nan=False, allow_infinity=False)
seconds = st.builds(ClientSeconds, **dict.fromkeys(ClientSeconds.model_fields, st.floats(0, 1e9)))
anything = st.builds(
    Measured,
    test=st.none() | st.builds(TestMetrics, accuracy=st.none() | st.floats(0, 1), loss=finite),
    train_loss=st.none() | finite,
    seconds=st.none() | seconds,
)


@given(measured=anything)
def test_whatever_was_measured_is_read_by_the_operator_and_has_one_length(measured):
    sealed = PLACE.seal(measured, OPERATOR.sealing_text)
    assert len(sealed) == SEALED_CHARACTERS
    assert PLACE.open(sealed, OPERATOR.sealing) == measured


def test_the_longest_report_has_room():
    longest = -1.7976931348623157e308
    times = dict.fromkeys(ClientSeconds.model_fields, 123456789.123456789)
    measured = Measured(
        test=TestMetrics(accuracy=0.12345678901234567, loss=longest),
        train_loss=longest,
        seconds=ClientSeconds(**times),
    )
    assert len(measured.model_dump_json()) <= MEASURED_OCTETS


def test_the_same_report_is_never_sealed_alike():
    first, second = (PLACE.seal(MEASURED, OPERATOR.sealing_text) for _ in range(2))
    assert first != second


OTHERS = [
    ReportPlace("other", "d" * 64, 3, "ada"),
    ReportPlace("demo", "e" * 64, 3, "ada"),
    ReportPlace("demo", "d" * 64, 4, "ada"),
    ReportPlace("demo", "d" * 64, 3, "ben"),
]


@pytest.mark.parametrize("other", OTHERS)
def test_a_report_opens_in_no_other_place(other):
    sealed = PLACE.seal(MEASURED, OPERATOR.sealing_text)
    with pytest.raises(UntrustedError, match="does not open"):
        other.open(sealed, OPERATOR.sealing)


def test_a_report_opens_for_nobody_else():
    sealed = PLACE.seal(MEASURED, OPERATOR.sealing_text)
    with pytest.raises(UntrustedError, match="report of ada on round 3 does not open"):
        PLACE.open(sealed, KeyPairs.drawn(Random(2)).sealing)


@pytest.mark.parametrize(("place", "bit"), [*product([0, 31, 32, 300, 559], [0, 7])])
def test_a_changed_report_does_not_open(place, bit):
    octets = bytearray(from_text(PLACE.seal(MEASURED, OPERATOR.sealing_text)))
    octets[place] ^= 1 << bit
    with pytest.raises(UntrustedError):
        PLACE.open(to_text(bytes(octets)), OPERATOR.sealing)


def test_times_in_the_open_are_tenths():
    times = ClientSeconds(
        train=1.2345, randomize=0.0499, encrypt=0.05001, upload=59.96, decrypt=0.0
    )
    told = in_tenths(times)
    assert list(dict(told).values()) == [1.2, 0.0, 0.1, 60.0, 0.0]
