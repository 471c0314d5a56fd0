"""A plan that is stopped goes on where it was."""

from dataclasses import dataclass

import pytest

from experiments.paper.execution import execute, missing
from experiments.paper.records import read


@dataclass(frozen=True)
class Counted:
    """Leaves a mark each time it is measured; fails while the way is blocked."""

    name: str
    can_fail: bool = False
    alone: bool = False
    part = "counted"
    settings = {"seed": 1}  # noqa: RUF012  a stand-in
    expected_seconds = 1.0

    def run(self, data):
        if self.can_fail and (data / "blocked").exists():
            raise RuntimeError("blocked")
        with (data / "marks").open("a") as marks:
            marks.write(self.name)
        return {"name": self.name}


PLAN = [Counted("z", alone=True), Counted("a"), Counted("b", can_fail=True)]


def test_what_is_measured_is_kept_at_once_and_not_measured_again(tmp_path):
    (tmp_path / "blocked").touch()
    with pytest.raises(RuntimeError, match="blocked"):
        execute(PLAN, tmp_path, tmp_path, 1, lambda _m, _r: None)
    assert [m.name for m in missing(PLAN, tmp_path)] == ["z", "b"]
    (tmp_path / "blocked").unlink()
    seen = []
    execute(
        missing(PLAN, tmp_path), tmp_path, tmp_path, 1, lambda m, r: seen.append((m.name, r.result))
    )
    assert seen == [("b", {"name": "b"}), ("z", {"name": "z"})]
    assert (tmp_path / "marks").read_text() == "abz"
    assert missing(PLAN, tmp_path) == []
    assert [record.name for record in read(tmp_path, "counted").records] == ["a", "b", "z"]
