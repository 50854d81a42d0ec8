"""screen, consistency and score: from tables of answers to people, statistics and scores."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from command_line import Cli

ROW = {"item", "criterion", "score", "low", "high", "rank_low", "rank_high", "n", "status"}
LEVEL = ROW - {"item"} | {"of", "level"}


def test_scores_go_to_stdout_as_csv_where_nothing_else_is_asked(cli: Cli, votes_here: Path) -> None:
    said = cli("score", "votes.csv", "--intervals", "none", "--quiet")
    assert (said.code, said.err) == (0, "")
    frame = pl.read_csv(said.out.encode())
    assert set(frame.columns) == ROW
    assert frame.height == 2 * 12


def test_score_json_is_the_promised_document_and_nothing_else(cli: Cli, votes_here: Path) -> None:
    said = cli("score", "votes.csv", "--method", "bradley-terry-ridge", "--replicates", "100", "--json")
    assert said.code == 0
    document = said.document
    assert set(document) == {"scores", "notes"}
    assert len(document["scores"]) == 24
    for row in document["scores"]:
        assert set(row) == ROW
        assert row["low"] <= row["score"] <= row["high"]
        assert 1 <= row["rank_low"] <= row["rank_high"] <= 12
        assert row["status"] == "ok"
    notes = document["notes"]
    assert {"components", "strong_components", "spectral_gap", "method", "settings"} <= set(notes)
    assert notes["method"] == "bradley-terry-ridge"
    assert notes["components"] == 1
    assert 0 < notes["spectral_gap"] < 1
    assert notes["settings"]["replicates"] == 100
    assert notes["simulated"] is True


def test_score_json_of_ratings_has_the_same_rows(cli: Cli, ratings_here: Path) -> None:
    document = cli("score", "ratings.csv", "--intervals", "analytic", "--json").document
    assert {frozenset(row) for row in document["scores"]} == {frozenset(ROW)}
    assert len(document["scores"]) == 12
    assert document["notes"]["method"] == "mos"


def test_scores_of_a_level_name_factor_and_level(cli: Cli, votes_here: Path) -> None:
    document = cli("score", "--by", "method", "--replicates", "100", "--json").document
    rows = document["scores"]
    assert {frozenset(row) for row in rows} == {frozenset(LEVEL)}
    assert {row["of"] for row in rows} == {"method"}
    assert [row["level"] for row in rows] == ["alpha", "beta", "gamma"] * 2
    written = pl.read_csv("scores/human-by-method.csv")
    assert written.height == 6
    assert "item" not in written.columns


def test_levels_may_come_from_a_table_of_items(cli: Cli, votes_here: Path) -> None:
    items = votes_here / "items.csv"
    items.rename(votes_here / "table.csv")
    for name in ("benchmark.toml", "references.csv"):
        (votes_here / name).unlink()
    said = cli("score", "votes.csv", "--by", "style", "--items", "table.csv", "--intervals", "none", "--json")
    assert {row["level"] for row in said.document["scores"]} == {"ink", "oil"}
    refused = cli("score", "votes.csv", "--by", "stile", "--items", "table.csv")
    assert "no factor 'stile'; did you mean 'style'?" in refused.refusal


def test_in_a_benchmark_scores_go_to_its_folder(cli: Cli, votes_here: Path) -> None:
    said = cli("score", "--intervals", "none")
    assert said.code == 0
    assert said.out == ""
    assert "scores/human.csv" in said.err.splitlines()
    assert (votes_here / "scores" / "human.toml").is_file()
    assert pl.read_csv("scores/human.csv").height == 24


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_output_is_written_by_its_ending(cli: Cli, votes_here: Path, ending: str) -> None:
    said = cli("score", "votes.csv", "--intervals", "none", "-o", f"new/folder/s.{ending}")
    assert said.code == 0
    read = pl.read_parquet if ending == "parquet" else pl.read_csv
    assert read(f"new/folder/s.{ending}").height == 24
    assert said.err.splitlines()[-1] == f"new/folder/s.{ending}"


def test_every_table_of_answers_is_also_parquet(cli: Cli, votes_here: Path) -> None:
    cli("score", "votes.csv", "--intervals", "none", "-o", "from-csv.csv")
    pl.read_csv("votes.csv", infer_schema=False).write_parquet("votes.parquet")
    Path("votes.csv").unlink()
    assert cli("score", "--intervals", "none", "-o", "from-parquet.csv").code == 0
    assert Path("from-parquet.csv").read_text() == Path("from-csv.csv").read_text()


def test_quiet_says_nothing_on_stderr(cli: Cli, votes_here: Path) -> None:
    for verb in (
        ["score", "--replicates", "100"],
        ["screen", "-o", "s.csv"],
        ["consistency", "--replicates", "100"],
        ["measure", "light"],
    ):
        said = cli(*verb, "--quiet")
        assert (said.code, said.err) == (0, ""), verb


def test_json_leaves_stdout_to_the_document(cli: Cli, votes_here: Path) -> None:
    for verb in (["screen"], ["consistency", "--replicates", "100"], ["score", "--intervals", "none"]):
        assert isinstance(cli(*verb, "--json").document, dict), verb


def test_a_bare_file_needs_no_benchmark(cli: Cli, here: Path) -> None:
    (here / "v.csv").write_text(
        "worker,model_a,model_b,winner\nw,x,y,model_a\nu,y,z,model_b\nu,x,z,tie\nw,z,y,model_b\n"
    )
    said = cli("score", "v.csv", "--method", "counting", "--intervals", "none", "--json")
    assert said.code == 0
    assert [row["item"] for row in said.document["scores"]] == ["x", "y", "z"]
    assert said.document["scores"][0]["criterion"] is None
    assert not (here / "scores").exists()


def test_a_map_names_the_columns(cli: Cli, here: Path) -> None:
    (here / "r.csv").write_text("who,clip,stars\np,x,3\nq,x,4\np,y,1\nq,y,2\n")
    words = ["r.csv", "--map", "participant=who,item=clip,value=stars", "--json"]
    rows = cli("score", *words, "--intervals", "none").document["scores"]
    assert [(row["item"], row["score"]) for row in rows] == [("x", 3.5), ("y", 1.5)]
    assert len(cli("screen", *words).document["participants"]) == 2
    assert cli("consistency", *words, "--replicates", "100").code == 0
    assert "--map 'who' is not of the form name=value" in cli("score", "r.csv", "--map", "who").refusal


def test_votes_and_ratings_meet_on_one_scale(cli: Cli, votes_here: Path, rated: Path) -> None:
    votes = pl.read_csv("votes.csv").filter(pl.col("criterion") == "overall")
    votes.write_csv("pairs.csv")
    said = cli("score", "pairs.csv", rated / "bench" / "ratings.csv", "--intervals", "none", "--json")
    assert said.code == 0
    assert said.document["notes"]["method"] == "unified"
    assert len(said.document["scores"]) == 12
    alone = cli("score", "pairs.csv", "--method", "unified")
    assert "'unified' reads votes and ratings together, and these are votes" in alone.refusal


def test_two_tables_of_one_kind_are_refused(cli: Cli, votes_here: Path) -> None:
    assert "join others into one file first" in cli("score", "votes.csv", "votes.csv").refusal


def test_both_kinds_in_one_folder_are_scored_together_and_screened_one_by_one(
    cli: Cli, votes_here: Path, rated: Path
) -> None:
    (votes_here / "ratings.csv").write_bytes((rated / "bench" / "ratings.csv").read_bytes())
    assert "votes and ratings lie here; name the one to screen" in cli("screen").refusal
    assert cli("screen", "ratings.csv").code == 0
    both = cli("consistency", "--replicates", "100", "--json").document["statistics"]
    assert {"repeat_kappa", "left_share"} <= {row["statistic"] for row in both}
    assert any(row["statistic"].startswith("icc") for row in both)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--method", "bradly-terry"], "no estimator 'bradly-terry'; did you mean 'bradley-terry'?"),
        (["--method", "mos"], "'mos' reads ratings, and these are votes"),
        (["--by", "metod"], "no factor 'metod'; did you mean 'method'?"),
        (["--set", "priro=1"], "no option of rank-centrality 'priro'; did you mean 'prior'?"),
        (["--set", "prior=-1"], "prior"),
        (["--set", "prior"], "--set 'prior' is not of the form name=value"),
        (["--set", "prior=much"], "estimator 'rank-centrality': prior = 'much' is not a number"),
        (["--set", "prior=true"], "prior = 'True' is not a number"),
        (["--set", "prior=nan"], "prior"),
        (["--method", "davidson", "--set", "max_iterations=2.5"], "max_iterations = '2.5' is not a whole number"),
        (["--method", "davidson", "--set", "tolerance=small"], "tolerance = 'small' is not a number"),
        (["--method", "thurstone", "--set", "prior=0.5"], "prior = '0.5' is not true or false"),
        (
            ["--method", "bradley-terry-ridge", "--set", "covariance=sandwich"],
            "covariance = 'sandwich' is not one of fisher, robust",
        ),
        (["--confidence", "95"], "confidence is 95.0; it lies between 0.5 and 1"),
        (["--confidence", "nan"], "confidence is nan"),
        (["--temperature", "within=hot"], "--temperature within='hot' is not a number"),
        (["--temperature", "between=2"], "no stage 'between'; there is across, within"),
        (["--temperature", "within=0"], "temperature of stage 'within' is 0.0; it must be above 0"),
        (["--reliability", "sim-01=2"], "no participant 'sim-01'"),
        (["--reliability", "sim-0001=-1"], "reliability of 'sim-0001' is -1.0"),
        (["--jobs", "0"], "jobs is 0"),
        (["--screening", "votes.csv"], "needs the columns participant and kept"),
        (["--screening", "none.csv"], "no file 'none.csv'"),
        (["--items", "none.csv", "--by", "method"], "no file 'none.csv'"),
        (["-o", "scores.json"], "no table format for 'scores.json', ending '.json'; there is .csv, .parquet, .tsv"),
        (["-o", "scores"], "no table format"),
    ],
)
def test_an_option_that_cannot_be_is_refused_in_one_line(
    cli: Cli, votes_here: Path, words: list[str], line: str
) -> None:
    before = sorted(path.relative_to(votes_here) for path in votes_here.rglob("*"))
    said = cli("score", *words, *(["--intervals", "none"] if "--jobs" not in words else []))
    assert line in said.refusal
    assert sorted(path.relative_to(votes_here) for path in votes_here.rglob("*")) == before


@pytest.mark.parametrize("words", [["--replicates", "10"], ["--intervals", "jackknife"], ["--seed", "-1"], ["--sed"]])
def test_a_word_that_is_no_option_is_a_fault_of_usage(cli: Cli, votes_here: Path, words: list[str]) -> None:
    said = cli("score", *words)
    assert said.code == 2
    assert "Usage: paragone score" in said.err
    assert said.out == ""


def test_stages_and_participants_can_be_weighted(cli: Cli, votes_here: Path) -> None:
    plain = cli("score", "votes.csv", "--intervals", "none", "--json").document["scores"]
    one = cli("score", "votes.csv", "--temperature", "across=1,within=1", "--intervals", "none", "--json")
    assert [row["score"] for row in one.document["scores"]] == pytest.approx([row["score"] for row in plain])
    noisy = cli(
        "score", "votes.csv", "--method", "bradley-terry-ridge", "--temperature", "across=3",
        "--reliability", "sim-0001=0", "--intervals", "none", "--json",
    )  # fmt: skip
    assert noisy.document["notes"]["settings"]["temperature"] == {"across": 3.0}
    assert noisy.document["notes"]["settings"]["reliability"] == {"sim-0001": 0.0}


def test_the_same_seed_gives_the_same_scores(cli: Cli, votes_here: Path) -> None:
    words = ["score", "votes.csv", "--replicates", "100", "--json", "--seed"]
    assert cli(*words, "3").out == cli(*words, "3").out
    assert cli(*words, "3").out != cli(*words, "4").out


def test_groups_that_never_met_are_refused_or_scored_apart(cli: Cli, here: Path) -> None:
    rows = [f"p{k},{a},{b},{side}" for k in range(4) for a, b in ("xy", "uv") for side in ("left", "right")]
    (here / "v.csv").write_text("\n".join(["participant,left,right,choice", *rows]) + "\n")
    refused = cli("score", "v.csv", "--json")
    assert refused.document["error"]["kind"] == "NotConnected"
    assert refused.document["error"]["message"] in refused.refusal
    apart = cli("score", "v.csv", "--apart", "--intervals", "none", "--json")
    assert apart.code == 0
    assert apart.document["notes"]["components"] == 2
    assert {row["item"]: row["connected_group"] for row in apart.document["scores"]} == {"u": 1, "v": 1, "x": 2, "y": 2}


def test_a_name_of_scores_leads_to_no_other_folder(cli: Cli, votes_here: Path) -> None:
    said = cli("score", "--intervals", "none", "--name", "../../by/us")
    assert said.code == 0
    assert said.err.splitlines()[-1] == "scores/-..-by-us.csv"
    assert 'name = "../../by/us"' in Path("scores/-..-by-us.toml").read_text()


def test_screening_says_who_and_why(cli: Cli, votes_here: Path) -> None:
    said = cli("screen", "votes.csv", "--json")
    document = said.document
    assert {"participants"} <= set(document)
    for person in document["participants"]:
        assert {"participant", "kept", "reasons", "statistics"} <= set(person)
        assert person["kept"] is (person["reasons"] == [])
        assert isinstance(person["statistics"], dict)
    dropped = [person for person in document["participants"] if not person["kept"]]
    assert dropped, "with a fifth careless somebody must fail the checks"
    assert all(reason.startswith("checks: ") for person in dropped for reason in person["reasons"])


def test_the_written_screening_leaves_people_out_of_the_scores(cli: Cli, votes_here: Path) -> None:
    said = cli("screen", "-o", "screening.csv", "--keep", "kept.csv")
    table = pl.read_csv("screening.csv")
    assert set(table["kept"]) == {True, False}
    assert f"{table.height} submitted, {table['kept'].sum()} retained" in said.err
    assert any(line.startswith("retained: median ") for line in said.err.splitlines())
    kept = set(table.filter("kept")["participant"])
    assert set(pl.read_csv("kept.csv")["participant"]) == kept
    scored = cli("score", "--intervals", "none", "--json")
    assert "screening.csv: only the participants it keeps are scored" in scored.err
    named = cli("score", "kept.csv", "--intervals", "none", "--json")
    assert named.document["scores"] == scored.document["scores"]
    everyone = cli("score", "--all", "--intervals", "none", "--json")
    assert everyone.document["scores"] != scored.document["scores"]
    assert everyone.document["scores"] == cli("score", "votes.csv", "--intervals", "none", "--json").document["scores"]
    as_parquet = cli("screen", "-o", "screening.parquet")
    assert as_parquet.code == 0
    by_parquet = cli("score", "votes.csv", "--screening", "screening.parquet", "--intervals", "none", "--json")
    assert by_parquet.document["scores"] == scored.document["scores"]


def test_rules_come_from_a_file_and_from_the_line(cli: Cli, votes_here: Path) -> None:
    Path("rules.toml").write_text('reject = ["speed"]\n\n[speed]\nmedian = 1000.0\n')
    everybody = cli("screen", "votes.csv", "--rules", "rules.toml", "--json").document["participants"]
    assert not any(person["kept"] for person in everybody)
    by_line = cli("screen", "votes.csv", "--reject", "speed", "--set", "speed.median=1000", "--json")
    assert by_line.document["participants"] == everybody
    nobody = cli("screen", "votes.csv", "--reject", "speed,straight", "--set", "speed.median=0.1", "--json")
    assert all(person["kept"] for person in nobody.document["participants"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--reject", "sped"], "did you mean 'speed'?"),
        (["--set", "speed.medain=1"], "no key of speed 'medain'; did you mean 'median'?"),
        (["--set", "sped.median=1"], "no screening rule 'sped'; did you mean 'speed'?"),
        (["--set", "speed=1"], "--set 'speed=1' is not of the form rule.key=value"),
        (["--set", "speed.median=fast"], "median"),
        (["--set", "speed.median=-3"], "median"),
        (["--rules", "none.toml"], "no file 'none.toml'"),
        (["--rules", "votes.csv"], "not valid TOML"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_in_one_line(cli: Cli, votes_here: Path, words: list[str], line: str) -> None:
    assert line in cli("screen", "votes.csv", *words, "-o", "screening.csv").refusal
    assert not Path("screening.csv").exists()


def test_consistency_is_one_row_a_statistic(cli: Cli, votes_here: Path) -> None:
    document = cli("consistency", "--replicates", "100", "--json").document
    assert {"statistics"} <= set(document)
    for row in document["statistics"]:
        assert {"statistic", "criterion", "stage", "value", "low", "high", "n"} <= set(row)
    found = {row["statistic"] for row in document["statistics"]}
    assert {"repeat_kappa", "left_share"} <= found
    said = cli("consistency", "--replicates", "100", "-o", "c.csv")
    assert said.out == ""
    assert pl.read_csv("c.csv").height == len(document["statistics"])


def test_a_folder_without_answers_says_so(cli: Cli, here: Path) -> None:
    for verb in ("score", "screen", "consistency"):
        assert "no votes.csv or ratings.csv in '.'; name the file of answers" in cli(verb).refusal
