"""The version of a state directory's layout: older ones are read, newer ones are refused."""

import pytest

from fedperm_client.errors import StateError
from fedperm_client.state_directory import LAYOUT, StateDirectory
from tests.client.documents import rounds
from tests.client.federation import drive

pytestmark = pytest.mark.anyio


@pytest.fixture
def state(tmp_path) -> StateDirectory:
    return StateDirectory(tmp_path)


def test_a_new_directory_says_its_layout(state):
    state.open()
    assert state.layout.read_text() == f"{LAYOUT}\n"


def test_a_directory_of_this_layout_is_not_written_again(state):
    state.open()
    before = state.layout.stat()
    state.open()
    after = state.layout.stat()
    # the time of the last access is no matter: reading moves it
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("text", ["", "two", "2.5"])
def test_a_damaged_layout_is_refused_and_left(state, text):
    state.layout.write_text(text)
    with pytest.raises(StateError, match="is damaged"):
        state.open()
    assert state.layout.read_text() == text


async def test_a_directory_from_before_layouts_goes_on_where_it_was(federation):
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        with ada.client() as one:
            await drive(federation, one, two, rounds=1)
        StateDirectory(ada.state).layout.unlink()
        with ada.client() as one:
            await drive(federation, one, two)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    assert ada.charges == 2
    assert StateDirectory(ada.state).layout.read_text() == f"{LAYOUT}\n"


async def test_a_directory_of_a_newer_client_is_refused_before_anything_is_written(federation):
    await federation.start_lines(rounds=rounds(count=1))
    (ada,) = await federation.line_homes("ada")
    ada.state.mkdir()
    StateDirectory(ada.state).layout.write_text(f"{LAYOUT + 1}\n")
    with pytest.raises(StateError, match=r"has layout 3.*upgrade this client"), ada.client():
        pass
    assert {path.name for path in ada.state.iterdir()} <= {".lock", "layout"}
    assert not ada.to_key_server.requests
