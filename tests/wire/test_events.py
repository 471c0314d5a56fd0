"""Events on the wire: details by kind, and kinds of a later version."""

import pytest
from pydantic import ValidationError

from fedperm.wire.events import DETAILS, Event, EventKind, OtherDetails, RoundExtended

FRAME = {"id": 7, "at": 1.5, "round": 2, "client": ""}


def test_every_kind_has_its_own_details():
    assert set(DETAILS) == set(EventKind)


def test_details_are_read_by_the_kind_of_the_event():
    told = {**FRAME, "event": "round-extended", "details": {"deadline_at": 9, "extensions": 1}}
    event = Event.model_validate(told)
    assert event.details == RoundExtended(deadline_at=9.0, extensions=1)
    assert Event.model_validate_json(event.model_dump_json()) == event
    assert event.model_dump(mode="json") == told


def test_a_kind_of_a_later_version_is_kept_as_it_is():
    told = {**FRAME, "event": "shares-combined", "details": {"shares": 3}}
    event = Event.model_validate(told)
    assert isinstance(event.details, OtherDetails)
    assert event.model_dump(mode="json") == told


def test_details_of_another_kind_are_refused():
    with pytest.raises(ValidationError, match="extensions"):
        Event.model_validate({**FRAME, "event": "round-extended", "details": {"deadline_at": 9}})
