"""The main job in one call: screening, scores, metrics, agreement and a report from what lies in a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from command_line import PAIRS, RATED, call, rated_study, voted_study
from paragone.errors import NotFound
from paragone.loop import run


@pytest.fixture(scope="module")
def voted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("voted")
    voted_study(root)
    return root


@pytest.fixture
def study(voted: Path, tmp_path: Path) -> Path:
    shutil.copytree(voted, tmp_path / "study")
    return tmp_path / "study" / "bench"


def test_one_call_does_all_of_it_and_comes_home(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.parent)
    lines: list[str] = []
    page = run("bench", replicates=100, metrics=["ssim", "light"], group="style", say=lines.append)
    assert page == Path("bench/report.html")
    assert Path.cwd() == study.parent
    assert "simulated" in page.read_text().lower()
    assert sorted(path.name for path in (study / "scores").glob("*.csv")) == [
        "human-by-content.csv",
        "human-by-method.csv",
        "human-by-style.csv",
        "human.csv",
        "light.csv",
        "simulated-truth.csv",
        "ssim.csv",
    ]
    agreement = pl.read_csv(study / "agreement.csv")
    assert {"style=ink", "style=oil"} <= set(agreement["group"].drop_nulls())
    assert set(agreement["predictor"]) == {"ssim", "light"}
    assert any(line.startswith("screening: ") for line in lines)
    assert call("check", study).code == 0


def test_the_folder_can_be_moved_and_still_knows_its_inputs(study: Path, tmp_path: Path) -> None:
    run(study, replicates=100, metrics=(), by=())
    shutil.move(study.parent, tmp_path / "elsewhere")
    moved = tmp_path / "elsewhere" / "bench"
    assert call("check", moved, "--json").document == {"faults": [], "remarks": []}
    (moved / "screening.csv").write_text((moved / "screening.csv").read_text() + "\n")
    assert "screening.csv" in call("check", moved, "--json").document["remarks"][0]


def test_it_comes_home_after_a_refusal_too(study: Path) -> None:
    before = Path.cwd()
    (study / "votes.csv").write_text("left,right\n")
    with pytest.raises(Exception, match=r"votes\.csv"):
        run(study)
    assert Path.cwd() == before
    with pytest.raises(NotFound, match="benchmark"):
        run(study / "scores")


def test_the_checks_that_a_study_asks_for_are_those_that_are_held(study: Path) -> None:
    """With one of two needed, who misses one stays; with two needed, not."""
    frame = pl.read_csv(study / "votes.csv", infer_schema=False)
    whose = frame.filter((pl.col("kind") == "check") & (pl.col("choice") == pl.col("expected")))
    wrong = pl.when(pl.col("expected") == "left").then(pl.lit("right")).otherwise(pl.lit("left"))
    one = (pl.col("trial") == whose["trial"][0]) & (pl.col("participant") == whose["participant"][0])
    frame.with_columns(choice=pl.when(one).then(wrong).otherwise("choice")).write_csv(study / "votes.csv")
    run(study, replicates=100, metrics=(), by=())
    lenient = set(pl.read_csv(study / "screening.csv").filter("kept")["participant"])
    (study / "study.toml").write_text(PAIRS.replace("checks_needed = 1", "checks_needed = 2"))
    run(study, replicates=100, metrics=(), by=())
    strict = set(pl.read_csv(study / "screening.csv").filter("kept")["participant"])
    assert strict < lenient
    said = call("screen", study / "votes.csv", "--json")
    assert {p["participant"] for p in said.document["participants"] if p["kept"]} == strict, "the verb does the same"


def test_people_who_rate_and_people_who_vote_are_each_screened(study: Path, voted: Path) -> None:
    """Stages of one study are answered by different people: the screening of one table says nothing of the other's."""
    stage = RATED.partition("[[stage]]")[2]
    (study / "study.toml").write_text(
        PAIRS.replace("seed = 1\n", 'seed = 1\ncriteria = ["overall"]\n') + "\n[[stage]]" + stage
    )
    for verb in ("plan", "simulate", "collect"):
        assert call(verb, study).code == 0
    run(study, replicates=100, metrics=(), by=())
    votes, ratings = pl.read_csv(study / "votes.csv"), pl.read_csv(study / "ratings.csv")
    screened = set(pl.read_csv(study / "screening.csv", infer_schema_length=None)["participant"])
    assert screened == {*votes["participant"], *ratings["participant"]}
    human = pl.read_csv(study / "scores" / "human.csv")
    assert human.height == 12
    assert 'method = "unified"' in (study / "scores" / "human.toml").read_text()


def test_a_rating_study_has_its_means(voted: Path, tmp_path: Path) -> None:
    shutil.copytree(voted, tmp_path / "rated")
    rated_study(tmp_path / "rated")
    bench = tmp_path / "rated" / "bench"
    run(bench, replicates=100, metrics=["ssim"], by=["method"])
    assert 'method = "mos"' in (bench / "scores" / "human.toml").read_text()
    assert pl.read_csv(bench / "scores" / "human-by-method.csv").height == 3


def test_labels_without_pictures_are_no_reason_to_stop(study: Path) -> None:
    items = pl.read_csv(study / "items.csv").with_columns(image=pl.lit(None, dtype=pl.String))
    items.write_csv(study / "items.csv")
    run(study, replicates=100, by=())
    assert (study / "report.html").is_file()
    assert not list((study / "scores").glob("light.csv"))
