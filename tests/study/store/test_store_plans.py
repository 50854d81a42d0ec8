"""A frozen plan is found by owner, whatever its ids look like."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paragone.study.store import Store, versions
from paragone.study.store.export.plans import Planned, plans_of
from store_world import Small

ODD = st.text(alphabet="ab,\"\n\r ä内'=", min_size=1, max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(["1", "2"]), ODD, ODD), max_size=12))
def test_owners_are_found_wherever_their_rows_stand(tmp_path: Path, rows: list[tuple[str, str, str]]) -> None:
    frame = pl.DataFrame(rows, schema={"stage": pl.String, "owner": pl.String, "trial": pl.String}, orient="row")
    frame.write_csv(tmp_path / "plan.csv")
    plan = Planned(tmp_path / "plan.csv")
    assert plan.rows == frame.height
    for stage, owner in frame.select("stage", "owner").unique().iter_rows():
        theirs = frame.filter(stage=stage, owner=owner)["trial"].to_list()
        assert plan.of([(stage, owner)])["trial"].to_list() == theirs
        assert plan.count(stage, owner) == len(theirs)


def test_a_plan_of_the_least_columns_is_enough(tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text("trial,sheet,stage,position,kind\nt1,s1,1,1,main\n")
    plan = Planned(tmp_path / "plan.csv")
    assert plan.of([("1", "s1")]).row(0, named=True) | {"trial": "t1", "owner": "s1", "session": "1"} == (
        plan.of([("1", "s1")]).row(0, named=True)
    )
    assert plan.of([("1", "nobody")]).height == plan.of([]).height == 0


@pytest.mark.parametrize("text", ["", "\n", "trial,sheet\n"])
def test_a_plan_without_trials_has_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.csv").write_text(text)
    plan = Planned(tmp_path / "plan.csv")
    assert plan.rows == 0
    assert "session" in plan.of([("1", "a")]).columns


def test_plans_come_out_of_the_store_and_go_again(store: Store) -> None:
    small = Small(store)
    text = b"trial,sheet,stage\n" + b"".join(b"t%d,s%d,1\n" % (n, n // 10) for n in range(20_000))
    number = small.write(versions.freeze, "{}", text, b"{}", [], 1.0)

    def look(c: object) -> Path:
        with plans_of(c) as plans:  # type: ignore[arg-type]
            assert plans[number].path.read_bytes() == text
            assert plans[number].of([("1", "s7")])["trial"].to_list() == [f"t{n}" for n in range(70, 80)]
            return plans[number].path

    assert not store.read_now(look).exists()
