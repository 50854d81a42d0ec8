"""What the store recorded of a study, as its methods paragraph states it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from study_folder import PAIRS, frozen_study

from paragone.study.frozen import Frozen
from paragone.study.methods import Recorded, methods_paragraph
from paragone.study.recalled import ReadPlates, recalled
from paragone.study.store import Store, claims, events, people
from store_world import Small


class Room:
    """A small study in a store: four sheets of six comparisons and two checks, two criteria."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.frozen: Frozen = frozen_study(folder, PAIRS)
        owners = sorted(self.frozen.plan["owner"].unique().to_list())
        self.small = Small(store, [("within", owner) for owner in owners])

    def note(
        self, kind: str, person: people.Participant | None, lease: claims.Lease | None = None, **body: Any
    ) -> None:
        """Store an event."""
        self.small.write(
            events.append, kind, self.small.now,
            participant_id=person.id if person else None, lease_id=lease.id if lease else None, session="1", body=body,
        )  # fmt: skip

    def walks(
        self,
        *,
        seconds: float,
        exact: bool = True,
        again: bool = False,
        about: dict[str, str] | None = None,
        **screen: Any,
    ) -> claims.Lease:
        """Somebody goes from consent to the end."""
        person = self.small.person()
        self.note("consent", person)
        lease = self.small.lease(person.id, "within")
        self.note("device", person, lease, **screen)
        for sheet in self.frozen.sheets("within", lease.owner):
            for trial in sheet.trials:
                for criterion in self.frozen.criteria:
                    self.small.answer(
                        lease, trial.trial, criterion=criterion, seconds=seconds, body=json.dumps({"exact": exact})
                    )
        if again:
            main = next(trial for trial in self.frozen.sheets("within", lease.owner)[0].trials if trial.kind == "main")
            changed = {"criterion": self.frozen.criteria[0], "revision": 1, "seconds": 9.0, "body": "{}"}
            assert self.small.answer(lease, main.trial, **changed) == "stored"
        if about is not None:
            self.note("questionnaire", person, lease, answers=about)
        self.small.now += 86_400
        self.small.write(claims.finish, lease.id, self.small.now)
        self.note("finished", person, lease, outcome="completed")
        return lease

    def recalled(self, read_plates: ReadPlates | None = None) -> Recorded:
        """What is recorded."""
        return self.small.read(recalled, lambda _c, _version: self.frozen, read_plates=read_plates)


@pytest.fixture
def room(store_url: str, tmp_path: Path) -> Any:
    with Store.open(store_url) as store:
        yield Room(store, tmp_path / "study")


def test_an_empty_store_has_recorded_nobody(room: Room) -> None:
    found = room.recalled()
    assert (found.consented, found.declined, found.unfinished) == (0, 0, 0)
    assert found.stages["within"].completed == 0
    assert found.stages["within"].seconds == []
    assert (found.displays, found.persons, found.plates, found.began, found.ended) == (None,) * 5


def test_everybody_s_way_is_counted(room: Room) -> None:
    first = room.walks(seconds=4.0, about={"gender": "female"}, screen_width=1920, screen_height=1080, ratio=1)
    room.walks(seconds=6.0, about={}, screen_width=1280, screen_height=800, ratio=2, exact=True)
    out = room.walks(seconds=1.0, about={"gender": "male"}, screen_width=640, screen_height=480, ratio=1)
    room.small.write(claims.exclude, out.id, room.small.now, who="me", why="too fast")
    lost = room.small.person()
    room.note("consent", lost)
    room.note("training-failed", lost)
    left = room.small.person()
    room.note("consent", left)
    room.small.lease(left.id, "within")
    room.note("consent", room.small.person())  # all sheets were taken
    room.small.write(people.decline, room.small.person().id, room.small.now)
    found = room.recalled()
    assert (found.consented, found.declined, found.turned_away, found.unfinished) == (6, 1, 1, 1)
    assert found.outcomes == {"failed-training": 1}
    stage = found.stages["within"]
    assert (stage.completed, stage.excluded, stage.sessions) == (3, {"too fast": 1}, 2)
    assert stage.answers == 2 * 6 * 2  # two people, six comparisons, two criteria; checks do not count
    assert sorted(set(stage.seconds or [])) == [4.0, 6.0]
    assert stage.exact == stage.answers
    assert found.persons == [{"gender": "female"}, {}]
    assert [screen["screen_width"] for screen in found.displays or []] == [1920, 1280]
    assert (found.began, found.ended) == (1000.0, 1000.0 + 3 * 86_400)
    said = methods_paragraph(room.frozen.study, recorded=found)
    assert "3 participants completed the study; 1 were excluded (too fast: 1) and 2 were kept." in said
    assert "They gave 24 answers in 2 sessions." in said
    assert "Gender: 1 female, 1 gave no answer." in said
    assert first.id != out.id


def test_a_restored_person_counts_again(room: Room) -> None:
    lease = room.walks(seconds=2.0)
    room.small.write(claims.exclude, lease.id, room.small.now, who="me", why="a mistake")
    room.small.write(claims.restore, lease.id, room.small.now, who="me", why="it was a mistake")
    stage = room.recalled().stages["within"]
    assert (stage.completed, stage.excluded, stage.answers) == (1, {}, 24 // 2)


def test_exactness_that_was_not_recorded_everywhere_is_not_stated(room: Room) -> None:
    room.walks(seconds=2.0, exact=False)
    assert room.recalled().stages["within"].exact == 0
    room.walks(seconds=2.0, again=True)
    stage = room.recalled().stages["within"]
    assert stage.exact is None
    assert 9.0 not in (stage.seconds or [])


def test_plates_are_read_by_who_knows_them(room: Room) -> None:
    room.walks(seconds=2.0, plates={"x": "12", "y": "8"})
    room.walks(seconds=2.0)
    assert room.recalled().plates is None
    found = room.recalled(lambda _person, given: (sum(value == "12" for value in given.values()), len(given)))
    assert found.plates == [(1, 2)]
