"""When a client counts as here, and what is known of what it does."""

from fedperm.wire.aggregator import Phase
from fedperm_aggregator.presence import Presence, Seen
from fedperm_aggregator.records import Sighting

RUN, ADA = "demo", "ada"


def test_any_request_shows_that_it_is_here_and_keeps_what_it_said_of_itself():
    presence = Presence(online_seconds=10)
    presence.beat(RUN, ADA, Seen(1.0, Phase.TRAINING, 7))
    presence.heard(RUN, ADA, now=5.0)
    assert presence.last(RUN, ADA) == Seen(5.0, Phase.TRAINING, 7)


def test_who_was_never_heard_of_is_idle_in_no_round():
    presence = Presence(online_seconds=10)
    presence.heard(RUN, ADA, now=5.0)
    assert presence.last(RUN, ADA) == Seen(5.0, Phase.IDLE, 0)
    presence.load([Sighting(RUN, "ben", 6.0)])
    assert presence.last(RUN, "ben") == Seen(6.0, Phase.IDLE, 0)


def test_it_is_online_up_to_the_last_moment_whichever_way_the_clock_went():
    presence = Presence(online_seconds=10)
    presence.heard(RUN, ADA, now=100.0)
    moments = (89.9, 90.0, 110.0, 110.1)
    assert [presence.is_online(RUN, ADA, now) for now in moments] == [False, True, True, False]
