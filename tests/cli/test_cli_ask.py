"""plan, simulate and collect: from a benchmark and study.toml to tables of answers."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from command_line import PAIRS, RATED, Cli, call


def test_a_plan_is_written_and_says_what_it_costs(cli: Cli, votes_here: Path) -> None:
    before = Path("plan.csv").read_bytes()
    said = cli("plan")
    assert said.code == 0
    assert said.out == ""
    assert said.err.splitlines()[-1] == "plan.csv"
    assert "stage within: 12 sheets, 144 judgements, 24 checks" in said.err
    assert Path("plan.csv").read_bytes() == before, "one seed, one plan"


def test_a_plan_says_what_serve_would_refuse(cli: Cli, votes_here: Path) -> None:
    settings = Path("study.toml").read_text()
    assert "fill in [consent] who and contact of study.toml before serving" in cli("plan").err
    for consent, line in (('who = "Ann"', "contact"), ('who = "Ann"\ncontact = "ann@example.org"', "")):
        Path("study.toml").write_text(f"{settings}\n[consent]\n{consent}\n")
        said = cli("plan")
        assert said.code == 0
        assert re.findall(r"fill in \[consent\] (\w+) of", said.err) == ([line] if line else [])
    Path("study.toml").write_text(f'{settings}\n[pages]\nshow = ["prompt", "method"]\n')
    fault = "study.toml: pages.show names 'prompt', which is no column of items.csv"
    assert fault in cli("plan").refusal
    assert fault in cli("check", "--no-pictures").out.splitlines()


@pytest.mark.parametrize(
    ("named", "asked", "line"),
    [
        ('["content", "style", "overall"]', '["overall"]', "asks overall; benchmark.toml names content and style too"),
        ('["style"]', '["overall", "depth"]', "asks overall and depth; benchmark.toml names style too"),
        ('["style"]', '["overall", "style"]', ""),
        ('["style", "overall"]', "[]", ""),
        ("[]", '["overall"]', ""),
    ],
)
def test_a_plan_says_which_criteria_of_the_benchmark_are_not_asked(
    cli: Cli, votes_here: Path, named: str, asked: str, line: str
) -> None:
    card = re.sub(r"(?m)^criteria = .*$", f"criteria = {named}", Path("benchmark.toml").read_text())
    assert f"criteria = {named}" in card
    Path("benchmark.toml").write_text(card)
    Path("study.toml").write_text(PAIRS.replace("seed = 1\n", f"seed = 1\ncriteria = {asked}\n"))
    said = cli("plan")
    assert said.code == 0
    assert [told for told in said.err.splitlines() if "benchmark.toml" in told] == (
        [f"study.toml {line}"] if line else []
    )
    assert "benchmark.toml" not in cli("plan", "--json").err


def test_a_plan_as_json_is_one_document(cli: Cli, votes_here: Path) -> None:
    said = cli("plan", ".", "-o", "elsewhere/p.parquet", "--json")
    document = said.document
    assert said.err == ""
    assert document["plan"] == "elsewhere/p.parquet"
    assert [stage["stage"] for stage in document["stages"]] == ["within", "across"]
    assert document["connected_parts"]
    assert pl.read_parquet("elsewhere/p.parquet").height == pl.read_csv("plan.csv").height


def test_a_simulation_as_json_names_what_it_wrote(cli: Cli, votes_here: Path) -> None:
    said = cli("simulate", "--json")
    assert said.err == ""
    assert said.document == {"written": ["answers.csv", "scores/simulated-truth.csv"], "simulated": True}


def test_the_seed_of_the_simulation_decides_the_answers(cli: Cli, votes_here: Path) -> None:
    first = Path("answers.csv").read_bytes()
    assert cli("simulate", "--careless", "0.2", "--seed", "1").code == 0
    assert Path("answers.csv").read_bytes() == first
    assert cli("simulate", "--careless", "0.2", "--seed", "2", "--quiet").err == ""
    assert Path("answers.csv").read_bytes() != first


def test_simulated_answers_are_labelled_everywhere(cli: Cli, votes_here: Path) -> None:
    assert "simulated = true" in Path("benchmark.toml").read_text()
    assert pl.read_csv("votes.csv")["participant"].str.starts_with("sim-").all()
    assert cli("score", "votes.csv", "--intervals", "none", "--json").document["notes"]["simulated"] is True
    shutil.copy("votes.csv", "../elsewhere.csv")
    Path("real.csv").write_text("participant,left,right,choice\nann,x,y,left\nbob,x,y,right\n")
    shutil.copy("real.csv", "../real.csv")
    real = cli("score", "../real.csv", "--intervals", "none", "--json").document["notes"]["simulated"]
    assert real is False, "the current folder says nothing of a file elsewhere"
    assert cli("score", "../elsewhere.csv", "--intervals", "none", "--json").document["notes"]["simulated"] is True


def test_answers_of_people_are_never_overwritten_and_take_the_label_away(cli: Cli, votes_here: Path) -> None:
    Path("answers.csv").write_text(Path("answers.csv").read_text().replace("sim-", "person-"))
    before = Path("answers.csv").read_bytes()
    assert "'answers.csv' holds answers of people; move it away" in cli("simulate").refusal
    assert Path("answers.csv").read_bytes() == before
    assert "simulated = true" in Path("benchmark.toml").read_text()
    assert cli("collect").code == 0
    assert "simulated = false" in Path("benchmark.toml").read_text()
    assert cli("score", "--intervals", "none", "--json").document["notes"]["simulated"] is False
    assert cli("report").code == 0
    assert "simulated participants" not in Path("report.html").read_text().lower()


def test_the_truth_of_a_simulation_can_be_given(cli: Cli, votes_here: Path) -> None:
    items = pl.read_csv("items.csv")["item"].to_list()
    rows = [f"{item},overall,{50 * number}" for number, item in enumerate(items)]
    Path("truth.csv").write_text("\n".join(["item,criterion,score", *rows]) + "\n")
    assert cli("simulate", "--latent", "truth.csv").code == 0
    assert cli("collect").code == 0
    scored = cli("score", "votes.csv", "--method", "win-rate", "--intervals", "none", "--json").document["scores"]
    assert {row["criterion"] for row in scored} == {"overall"}
    assert max(scored, key=lambda row: row["score"])["item"] == items[-1]
    assert min(scored, key=lambda row: row["score"])["item"] == items[0]


def test_a_study_may_ask_other_criteria_than_the_benchmark_lists(cli: Cli, votes_here: Path) -> None:
    Path("study.toml").write_text(PAIRS.replace("seed = 1\n", 'seed = 1\ncriteria = ["style"]\n'))
    for verb in ("plan", "simulate", "collect"):
        assert cli(verb).code == 0
    assert set(pl.read_csv("votes.csv")["criterion"]) == {"style"}


def test_ratings_come_on_the_scale_of_the_study(cli: Cli, ratings_here: Path) -> None:
    frame = pl.read_csv("ratings.csv")
    assert set(frame["value"]) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert set(frame["kind"]) == {"main", "check", "repeat", "stabilising"}
    assert set(frame["criterion"]) == {"overall"}, "the study asks one of the benchmark's two criteria"
    assert not Path("votes.csv").exists()


def test_a_scale_that_no_page_can_ask_is_refused_before_it_is_planned(cli: Cli, ratings_here: Path) -> None:
    before = Path("plan.csv").read_bytes()
    Path("study.toml").write_text(Path("study.toml").read_text().replace("step = 1\n", "step = 0.3\n"))
    assert "stage 'rated': high = 5 is not a whole number of steps above low = 1; set high = 4.9" in cli("plan").refusal
    assert Path("plan.csv").read_bytes() == before


def test_each_rating_stage_has_its_own_scale(cli: Cli, ratings_here: Path) -> None:
    stage = Path("study.toml").read_text().partition("[[stage]]")[2]
    second = stage.replace('"rated"', '"slid"').replace("low = 1", "low = 0").replace("step = 1\n", "step = 0.5\n")
    Path("study.toml").write_text(
        Path("study.toml").read_text() + "\n[[stage]]" + second.replace("high = 5", "high = 9")
    )
    for verb in ("plan", "simulate", "collect"):
        assert cli(verb).code == 0
    said = {stage: set(part["value"]) for (stage,), part in pl.read_csv("ratings.csv").group_by("stage")}
    assert said["rated"] <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert said["slid"] <= {k / 2 for k in range(19)}
    assert max(said["slid"]) > 5


def test_what_was_collected_is_counted(cli: Cli, votes_here: Path) -> None:
    rows = Path("answers.csv").read_text().splitlines()
    Path("answers.csv").write_text("\n".join([*rows[:-4], rows[1]]) + "\n")
    document = cli("collect", "--json").document
    assert document["written"] == ["votes.csv"]
    assert document["notes"]["doubles"] == 1
    assert document["notes"]["missing"] == 4
    said = cli("collect")
    assert {"doubles: 1", "missing: 4", "votes.csv"} <= set(said.err.splitlines())


def test_answers_may_lie_elsewhere(cli: Cli, votes_here: Path) -> None:
    before = Path("votes.csv").read_bytes()
    Path("answers.csv").rename("../raw.csv")
    Path("votes.csv").unlink()
    assert "no answers.csv in '.'; ask people by: paragone serve ., name a table by --answers" in cli("collect").refusal
    assert cli("collect", "--answers", "../raw.csv").code == 0
    assert Path("votes.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("seed = 1", "sead = 1", "study.toml: no key 'sead'; did you mean 'seed'?"),
        ("trials = 12", "trails = 12", "no key 'trails'; did you mean 'trials'?"),
        ("seed = 1", 'seed = "one"', "study.toml: seed: expected `int`, got `str`"),
        ("trials = 12", "trials = 12.5", "trials"),
        ("seed = 1", "seed = -1", "seed is -1; give a whole number from 0"),
        ('pairs = "within"', 'pairs = "inside"', "inside"),
        ('kind = "pairs"', 'kind = "triples"', "triples"),
        ('kind = "pairs"', "", "kind"),
        ("participants = 12", "", "participants"),
        ("participants = 12", "participants = 0", "participants = 0 is below 1"),
        ("checks_needed = 1", "checks_needed = 3", "checks_needed = 3 is not between 0 and checks = 2"),
        ("repeats = 2", "repeats = 7", "repeats = 7 is more than the 5 trials left to repeat"),
        (
            'group = ["content", "style"]',
            'group = ["contents"]',
            "stage 'within': group: no factor 'contents'; did you mean 'content'?",
        ),
        ("trials = 12", "trials = 500", "500"),
        ('name = "across"', 'name = "within"', "stage 'within' stands twice"),
        ("seed = 1", "seed = ", "study.toml: not valid TOML"),
        ("[[stage]]", "[stage]", "study.toml"),
    ],
)
def test_a_study_that_cannot_be_is_refused_in_one_line(
    cli: Cli, votes_here: Path, old: str, new: str, line: str
) -> None:
    assert old in PAIRS
    Path("study.toml").write_text(PAIRS.replace(old, new))
    before = Path("plan.csv").read_bytes()
    said = cli("plan", "--json")
    assert line in said.refusal
    assert said.document["error"]["message"] == said.refusal.removeprefix("paragone: ")
    assert Path("plan.csv").read_bytes() == before
    faults = cli("check", "--no-pictures")
    assert faults.code == 1 or "factor" in line or "500" in line, "check reads study.toml too"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--careless", "2"], "careless"),
        (["--taste", "-1"], "taste_sd"),
        (["--taste", "nan"], "taste_sd"),
        (["--latent", "none.csv"], "no file 'none.csv'"),
        (["--latent", "votes.csv"], "votes: 624 rows name neither an item nor a level"),
    ],
)
def test_a_simulation_that_cannot_be_is_refused(cli: Cli, votes_here: Path, words: list[str], line: str) -> None:
    before = Path("answers.csv").read_bytes()
    assert line in cli("simulate", *words).refusal
    assert Path("answers.csv").read_bytes() == before


def test_missing_parts_are_named_with_their_file(cli: Cli, votes_here: Path) -> None:
    Path("plan.csv").unlink()
    for verb in ("simulate", "collect"):
        assert "no plan.csv in '.'; run: paragone plan . first" in cli(verb).refusal
    Path("study.toml").unlink()
    refused = cli("plan").refusal
    assert "no study.toml in '.', which says what is asked; start from: paragone plan --example > study.toml" in refused
    assert "docs/tutorial-votes.md" in refused
    assert "no folder" in cli("plan", "nowhere").refusal or "nowhere" in cli("plan", "nowhere").refusal


def test_answers_that_belong_to_no_trial_are_refused(cli: Cli, votes_here: Path) -> None:
    text = Path("answers.csv").read_text()
    header, row = text.splitlines()[:2]
    trial = row.split(",")[header.split(",").index("trial")]
    Path("answers.csv").write_text(text.replace(f",{trial},", ",nowhere,", 1))
    before = Path("votes.csv").read_bytes()
    refused = cli("collect")
    assert "'nowhere'" in refused.refusal
    assert Path("votes.csv").read_bytes() == before


def test_a_whole_study_of_each_kind_is_scored(tmp_path: Path, voted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of stage in one plan give both tables, and one scale of both."""
    shutil.copytree(voted, tmp_path / "s")
    monkeypatch.chdir(tmp_path / "s" / "bench")
    stage = RATED.partition("[[stage]]")[2]
    criteria = PAIRS.replace("seed = 1\n", 'seed = 1\ncriteria = ["overall"]\n')
    Path("study.toml").write_text(f"{criteria}\n[[stage]]{stage}")
    Path("votes.csv").unlink()
    for verb in ("plan", "simulate", "collect"):
        assert call(verb).code == 0
    assert Path("votes.csv").is_file()
    assert Path("ratings.csv").is_file()
    said = call("score", "--all", "--intervals", "none", "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    assert document["notes"]["method"] == "unified"
    assert len(document["scores"]) == 12


def test_the_example_of_a_study_can_be_planned_as_it_stands_and_with_its_ratings(cli: Cli, votes_here: Path) -> None:
    example = cli("plan", "nowhere", "--example")
    assert (example.code, example.err) == (0, "")
    Path("study.toml").write_text(example.out)
    assert cli("plan").code == 0
    assert set(pl.read_csv("plan.csv")["stage"]) == {"within", "across"}
    head, _, rated = example.out.partition("# [[stage]]\n")
    lines = ["[[stage]]", *(line.removeprefix("# ") for line in rated.splitlines())]
    Path("study.toml").write_text(head + "\n".join(lines))
    assert cli("plan").code == 0
    assert set(pl.read_csv("plan.csv")["stage"]) == {"within", "across", "rated"}


@pytest.mark.parametrize(("old", "new"), [('kind = "pairs"', 'kind = "rating"'), ('kind = "pairs"\n', "")])
def test_a_kind_of_stage_that_is_not_there_is_refused_with_those_that_are(
    cli: Cli, votes_here: Path, old: str, new: str
) -> None:
    Path("study.toml").write_text(PAIRS.replace(old, new, 1))
    assert cli("plan").refusal.endswith('; kind is "pairs" or "ratings"')
