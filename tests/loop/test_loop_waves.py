"""`paragone plan --wave`: the next wave of a folder, from whatever answers there are."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from command_line import call
from paragone.benchmark import Benchmark
from paragone.study.store import Store, answers, claims, people, versions
from store_world import sha

STUDY = """\
seed = 3
criteria = ["overall"]
[[stage]]
kind = "pairs"
name = "within"
participants = 7
adaptive = true
wave = 3
trials = 6
repeats = 0
shared = 0
compare = "method"
[[stage]]
kind = "pairs"
name = "once"
participants = 2
trials = 6
repeats = 0
shared = 0
"""


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the first wave dealt, and nobody asked."""
    folder = tmp_path_factory.mktemp("waves") / "study"
    rows = [{"item": f"{m}{k}", "image": f"{m}{k}.png", "method": m} for m in "abc" for k in range(2)]
    items = pl.DataFrame(rows)
    Benchmark(items, pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))).write(folder)
    (folder / "study.toml").write_text(STUDY)
    assert call("plan", folder).code == 0
    return folder


@pytest.fixture
def folder(planned: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(planned, tmp_path / "study"))


def sheets(folder: Path) -> list[str]:
    return pl.read_csv(folder / "plan.csv")["sheet"].unique().sort().to_list()


def test_waves_are_added_until_all_sheets_are_dealt(folder: Path) -> None:
    first = pl.read_csv(folder / "plan.csv")
    assert len(sheets(folder)) == 3 + 2
    said = call("plan", folder, "--wave")
    assert said.code == 0, said.err
    assert "stage within: 3 sheets more, from 0 votes; 1 left to deal" in said.err
    whole = pl.read_csv(folder / "plan.csv")
    assert whole.filter(pl.col("sheet").is_in(first["sheet"].unique().implode())).equals(first)
    document = call("plan", folder, "--wave", "within", "--json").document
    assert (document["stage"], document["sheets"], document["answers"], document["left"]) == ("within", 1, 0, 0)
    assert len(sheets(folder)) == 7 + 2
    refused = call("plan", folder, "--wave")
    assert refused.refusal == "paragone: stage 'within' has all its 7 sheets; raise participants for more"


def test_votes_of_the_folder_are_looked_at(folder: Path) -> None:
    plan = pl.read_csv(folder / "plan.csv").filter(pl.col("stage") == "within")
    votes = plan.select("trial", "stage", "kind", "left", "right", participant="sheet", choice=pl.lit("left"))
    votes.with_columns(criterion=pl.lit("overall")).write_csv(folder / "votes.csv")
    assert "from 18 votes" in call("plan", folder, "--wave", "-o", folder / "next.csv").err
    assert len(sheets(folder)) == 5, "what -o names is written, and nothing else"
    assert pl.read_csv(folder / "next.csv")["sheet"].n_unique() == 8


def test_the_store_goes_before_votes_csv_and_excluded_sheets_do_not_count(folder: Path, tmp_path: Path) -> None:
    (folder / "votes.csv").write_text("participant,left,right,choice\nann,a0,b0,left\n")
    plan = pl.read_csv(folder / "plan.csv")
    places = sorted(set(plan.select("stage", "owner").iter_rows()))

    def fill(c: Any) -> list[int]:
        versions.freeze(c, "{}", (folder / "plan.csv").read_bytes(), b"{}", places, 1.0)
        taken = []
        for name in "xy":
            person = people.arrive(c, "open", sha(name), None, "en", 1.0)
            people.open_visit(c, person.id, sha(f"k{name}"), sha(f"c{name}"), None, 1.0)
            people.take_token(c, sha(f"k{name}"), sha(f"t{name}"), 1.0)
            lease = claims.claim(c, person.id, ["within"], 9, 1.0)
            assert lease is not None
            trials = plan.filter(pl.col("owner") == lease.owner)["trial"].to_list()[:4]
            rows = [answers.NewAnswer(f"{name}{t}", t, "overall", 0, "left", 1.0, "{}") for t in trials]
            given = answers.append(c, sha(f"t{name}"), lease.id, person.id, rows, 1.0)
            assert [one.status for one in given] == ["stored"] * 4
            taken.append(lease.id)
        return taken

    url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    with Store.open(url) as store:
        one, _ = store.write_now(fill)
        told = call("plan", folder, "--wave", "-o", folder / "next.csv", "--store", url, "--json").document
        assert told["answers"] == 8, "sheets under way count, while the store is served"
        store.write_now(lambda c: claims.exclude(c, one, 2.0, who="me", why="test"))
    shutil.move(tmp_path / "elsewhere.db", folder / "study.db")
    assert call("plan", folder, "--wave", "--json").document["answers"] == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--wave", "once"), "stage 'once' is not dealt in waves; study.toml says so by adaptive = true"),
        (("--wave", "elsewhere"), "no stage 'elsewhere'"),
        (("--wave", "--store", "sqlite:///none.db"), "no store 'none.db'"),
    ],
)
def test_what_cannot_be_dealt_is_one_line(folder: Path, words: tuple[str, ...], message: str) -> None:
    before = (folder / "plan.csv").read_bytes()
    assert message in call("plan", folder, *words).refusal
    assert (folder / "plan.csv").read_bytes() == before


def test_a_folder_without_a_plan_says_how_to_get_one(folder: Path) -> None:
    (folder / "plan.csv").unlink()
    assert "deal the first wave by: paragone plan" in call("plan", folder, "--wave").refusal


def test_a_store_goes_with_a_wave(folder: Path) -> None:
    assert "--store goes with --wave" in call("plan", folder, "--store", "sqlite:///x.db").err


def test_waves_are_not_lost_by_planning_anew(folder: Path) -> None:
    assert call("plan", folder).code == 0, "the first wave alone follows from the seed"
    call("plan", folder, "--wave")
    before = (folder / "plan.csv").read_bytes()
    assert "holds this plan and further waves, dealt from answers" in call("plan", folder).refusal
    assert (folder / "plan.csv").read_bytes() == before
    (folder / "study.toml").write_text(STUDY.replace("trials = 6", "trials = 8"))
    assert call("plan", folder).code == 0, "another study is another plan"
