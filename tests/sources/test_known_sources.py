"""The public layouts, against what their READMEs say of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from installed import needed
from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadInput, BadTable, NotFound, UnknownName
from paragone.sources import SOURCES, Imported, import_source, recognise

Shared = Callable[[str], Path]

WHERE = {
    "agiqa1k": "images/agiqa_labels/agiqa1k_mos_zscore.csv",
    "agiqa3k": "images/agiqa_labels/agiqa3k_data.csv",
    "avt_ai_images": "images/avt_ai_images",
    "bt500_repetitions": "votes/bt500_repetitions",
    "dynavect": "images/dynavect_2afc",
    "evalica": "votes/evalica",
    "hdr_vdc": "votes/hdr_vdc_bright",
    "imagenhub": "images/imagenhub_ratings",
    "kitov": "images/kitov_style_transfer",
    "krasula": "votes/krasula_sharpening",
    "nflx_public": "votes/nflx_public",
    "pwcmp_tmo": "votes/pwcmp_tmo",
}


def _votes(made: Imported) -> pl.DataFrame:
    assert made.votes is not None
    return made.votes.frame


def _ratings(made: Imported) -> pl.DataFrame:
    assert made.ratings is not None
    return made.ratings.frame


def _benchmark(made: Imported) -> Benchmark:
    assert made.benchmark is not None
    return made.benchmark


@pytest.mark.parametrize("name", WHERE)
def test_a_layout_is_recognised_and_gives_what_it_says(shared: Shared, name: str) -> None:
    path = shared(WHERE[name])
    assert recognise(path) == name
    made = import_source(None, path)
    assert {"benchmark", "votes", "ratings", "scores"} >= set(SOURCES.get(name).gives)
    for noun in ("votes", "ratings"):
        assert (getattr(made, noun) is not None) == (noun in SOURCES.get(name).gives)
    items = set(_benchmark(made).items["item"])
    shown_items = set()
    for answers in (made.votes, made.ratings):
        shown_items |= set(answers.items) if answers is not None else set()
    shown_items |= {item for scores in made.scores for item in scores.frame["item"] if name.startswith("avt")}
    assert shown_items <= items


def test_every_source_but_the_bare_table_has_its_test() -> None:
    own = ("packed", "table")  # have test files of their own
    assert sorted(WHERE) == [name for name in SOURCES.names() if name not in own]


def test_avt_scores_are_the_authors_own_means(shared: Shared) -> None:
    made = import_source("avt_ai_images", shared("votes/avt_ai_images"))
    frame = _ratings(made)
    assert frame.height == 10_155
    assert frame.filter(pl.col("complete") == "true")["participant"].n_unique() == 22
    raw = pl.read_csv(shared("votes/avt_ai_images/ratings.csv"))
    theirs = set(raw.filter(pl.col("rater_complete") == 1)["rater"])
    assert set(frame.filter(pl.col("complete") == "true")["participant"]) == theirs
    means = (
        frame.filter(pl.col("complete") == "true")
        .group_by("item", "criterion")
        .agg(pl.col("value").mean().alias("mean"))
    )
    (published,) = [scores for scores in made.scores if scores.name == "published-means"]
    both = published.frame.join(means, on=["item", "criterion"])
    assert both.height == 3 * 146
    assert (both["score"] - both["mean"]).abs().max() < 1e-12  # "differ by 0.0" (README)
    assert {scores.name: scores.better for scores in made.scores if scores.name in ("NIQE", "MUSIQ")} == {
        "NIQE": "lower",
        "MUSIQ": "higher",
    }
    assert "kept answers to items that the same participant had answered before: 9" in made.notes
    assert "27 response times are below zero in the source" in made.notes


def test_avt_photographs_are_no_generator(shared: Shared) -> None:
    made = import_source("avt_ai_images", shared("images/avt_ai_images"))
    benchmark = _benchmark(made)
    assert sorted(benchmark.levels("method")["level"].unique()) == [
        "craiyon", "dall-e", "glide", "midjourney", "stable_diffusion",
    ]  # fmt: skip
    photographs = benchmark.items.filter(pl.col("origin") == "photograph")
    assert photographs.height == 7
    assert photographs["method"].null_count() == 7
    assert benchmark.items["image"].null_count() == 1
    assert benchmark.picture("glide/p20") == shared("images/avt_ai_images") / "images" / "glide_p20.jpg"
    assert "1 rated items have no picture: midjourney/p25" in made.notes
    without = import_source("avt_ai_images", shared("images/avt_ai_images"), own=False)
    assert _benchmark(without).items.height == benchmark.items.height - 7


def test_avt_criteria_of_one_trial_share_its_seconds(shared: Shared) -> None:
    frame = _ratings(import_source("avt_ai_images", shared("images/avt_ai_images")))
    one = frame.filter((pl.col("participant") == "7") & (pl.col("item") == "glide/p20"))
    assert one["seconds"].to_list() == [9.2] * 3 + [8.0] * 3  # a page loaded twice
    assert frame.height == 6759
    assert frame["participant"].n_unique() == 27
    assert frame.filter(pl.col("complete") == "true")["participant"].n_unique() == 22


def test_avt_has_a_second_study(shared: Shared) -> None:
    made = import_source("avt_ai_images", shared("images/avt_ai_images"), study=2)
    frame = _ratings(made)
    assert frame["participant"].n_unique() == 28
    assert frame.filter(pl.col("complete") == "true")["participant"].n_unique() == 25
    assert _benchmark(made).criteria == ("image_appeal", "image_quality")
    with pytest.raises(BadConfig, match="study 3 is not one of 1, 2"):
        import_source("avt_ai_images", shared("images/avt_ai_images"), study=3)


def test_kitov_has_three_raters_and_reference_pictures(shared: Shared) -> None:
    made = import_source("kitov", shared("images/kitov_style_transfer"))
    frame = _ratings(made)
    assert frame.height == 3 * 6800
    # README, full set: rater means 6.60, 5.24, 5.66; a third of the styles is left out of this part.
    means = frame.group_by("participant").agg(pl.col("value").mean()).sort("participant")["value"].to_list()
    assert means == pytest.approx([6.60, 5.24, 5.66], abs=0.2)
    benchmark = _benchmark(made)
    assert benchmark.factors == ("method", "content", "style", "style_size")
    counts = dict(benchmark.references.group_by("factor").len().iter_rows())
    assert counts == {"content": 50, "style": 34}
    assert all((benchmark.folder / image).is_file() for image in benchmark.references["image"])
    assert frame.filter(pl.col("item") == "50/19/700")["value"].to_list() == [6.0, 9.0, 5.0]  # first row of the file


def test_imagenhub_is_a_factorial_design_with_named_raters(shared: Shared) -> None:
    made = import_source("imagenhub", shared("images/imagenhub_ratings"), overall=True)
    frame = _ratings(made)
    assert sorted(frame["criterion"].unique()) == ["overall", "perceptual_quality", "semantic_consistency"]
    assert set(frame["value"].unique()) <= {0.0, 0.5, 1.0, 0.5**0.5}
    assert frame["participant"].n_unique() == 15  # three in each of five tasks
    one = frame.filter(pl.col("item") == "Control-Guided_IG/sample_1_control_depth.jpg/ControlNet")
    first = one.filter(pl.col("participant") == "Control-Guided_IG/1").sort("criterion")
    assert first["value"].to_list() == pytest.approx([0.5**0.5, 0.5, 1.0])
    assert _benchmark(made).factors == ("task", "sample", "method")


def test_dynavect_shares_are_the_published_ones(shared: Shared) -> None:
    made = import_source("dynavect", shared("images/dynavect_2afc"))
    frame = _votes(made)
    assert frame.height == 3147
    assert (frame["choice"] == "left").mean() == pytest.approx(0.491, abs=5e-4)
    for rival, share, n in (("styleclip_o", 0.589, 1571), ("styleclip_g", 0.603, 1576)):
        meet = frame.filter(pl.col("left").str.ends_with(rival) | pl.col("right").str.ends_with(rival))
        ours = pl.when(pl.col("choice") == "left").then("left").otherwise("right").str.ends_with("-ours")
        assert meet.height == n
        assert meet.select(ours.mean()).item() == pytest.approx(share, abs=5e-4)
    assert _benchmark(made).items.height == 2 * 58
    joined = import_source("dynavect", shared("images/dynavect_2afc"), join=True)
    assert _benchmark(joined).items.height == 3 * 29


def test_dynavect_winner_must_be_the_answers(tmp_path: Path) -> None:
    header = "worker,work_seconds,question,prompt,edit,seed,method_A,method_B,answer,winner"
    (tmp_path / "votes.csv").write_text(f"{header}\n1,9,1,p,e,3,x,y,A,x\n1,9,2,p,e,3,x,z,B,x\n")
    with pytest.raises(BadTable, match=r"votes\.csv: row 3: winner 'x' is not the answer's"):
        import_source("dynavect", tmp_path)


def test_agiqa1k_labels_come_from_the_prompt(shared: Shared) -> None:
    made = import_source("agiqa1k", shared("images/agiqa_labels"))
    items = _benchmark(made).items
    # Facts of the set: 12 objects, 15 second objects, 100 pictures for nine objects, 60 for kid, demon, witch; one of
    # the 1,080 is missing and one name stands twice.
    counts = dict(items.group_by("object").len().iter_rows())
    assert len(counts) == 12
    assert items["action"].n_unique() == 15
    assert {name: n for name, n in counts.items() if n < 99} == {"kid": 60, "demon": 60, "witch": 60}
    assert items.filter(pl.col("item") == "dreamStudio_8_0_0_0.jpg")["object"].to_list() == ["alien"]
    assert items.filter(pl.col("item") == "deepai_8_0_0_0.jpg")["object"].to_list() != ["alien"]
    assert items.height == 1079


def test_agiqa1k_double_and_missing_names_are_told_and_not_scored(shared: Shared) -> None:
    made = import_source("agiqa1k", shared("images/agiqa_labels"))
    scores = {one.name: one.frame for one in made.scores}
    double = scores["human"].filter(pl.col("status") == "double")
    assert double.select("item", "score").rows() == [("dreamStudio_8_9_1_1.jpg", None)]
    held = scores["human"]["score"].drop_nulls()
    assert (held == 0).sum() == 7
    assert (held == 5).sum() == 2
    rows = [*held, 0.4414155439958131, 2.084115711537598]  # the mean of the facts counts both rows of the double name
    assert sum(rows) / 1080 == pytest.approx(2.5009, abs=5e-5)
    assert len(set(scores["human"]["item"]) & set(scores["human-plain-mean"]["item"])) == 1078
    both = scores["human"].join(scores["human-plain-mean"], on="item").drop_nulls("score")
    assert both.select(pl.corr("score", "score_right")).item() == pytest.approx(0.842, abs=2e-3)
    assert any("dreamStudio_8_5_0_0.jpg" in note for note in made.notes)
    assert any("rows 1080 and 1081" in note for note in made.notes)


def test_agiqa1k_is_read_as_it_was_published(tmp_path: Path) -> None:
    openpyxl = needed("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Image", "Prompt", "MOS"])
    book.active.append(["deepai_0_0_0_0.jpg", "bird, driving aircraft, city, anime style", 2.79])
    book.save(tmp_path / "AIGC_MOS_Zscore.xlsx")
    (tmp_path / "AIGC_all.csv").write_text("Image,Score\ndeepai_0_0_0_0.jpg,2.5\n")
    made = import_source("agiqa1k", tmp_path)
    assert [one.frame["score"].to_list() for one in made.scores] == [[2.79], [2.5]]
    assert _benchmark(made).items.row(0, named=True)["action"] == "driving aircraft"


def test_agiqa3k_has_two_criteria_and_six_generators(shared: Shared) -> None:
    made = import_source("agiqa3k", shared("images/agiqa_labels"))
    assert _benchmark(made).items["method"].n_unique() == 6
    counts = dict(_benchmark(made).items.group_by("method").len().iter_rows())
    assert counts["sd1.5"] == 1200
    assert counts["midjourney"] == 592
    (scores,) = made.scores
    assert scores.criteria == ["alignment", "quality"]
    wide = scores.frame.pivot("criterion", index="item", values="score")
    srcc = wide.select(pl.corr("alignment", "quality", method="spearman")).item()
    assert srcc == pytest.approx(0.742, abs=1e-3)
    assert scores.frame.filter(pl.col("item") == "AttnGAN_normal_000.jpg")["sd"].to_list() == [0.615607722, 0.223270101]


def test_two_label_sets_in_one_folder_must_be_named(shared: Shared) -> None:
    with pytest.raises(BadInput, match="could be agiqa1k or agiqa3k; name the source"):
        recognise(shared("images/agiqa_labels"))


@pytest.mark.parametrize(("file", "votes", "items"), [("simple", 16, 5), ("food", 30, 5)])
def test_evalica_small_sets(shared: Shared, file: str, votes: int, items: int) -> None:
    made = import_source("evalica", shared(f"votes/evalica/{file}.csv"))
    assert _votes(made).height == votes
    assert _benchmark(made).items.height == items


def test_evalica_llmfao(shared: Shared) -> None:
    frame = _votes(import_source("evalica", shared("votes/evalica/llmfao.csv")))
    assert frame.height == 8931
    assert (frame["choice"] == "tie").sum() == 3471
    assert frame["participant"].n_unique() == 124


def test_nflx_ratings_name_their_hidden_reference(shared: Shared) -> None:
    made = import_source("nflx_public", shared("votes/nflx_public/nflx_public.csv"))
    frame = _ratings(made)
    assert (frame.height, frame["participant"].n_unique(), frame["item"].n_unique()) == (2054, 26, 79)
    assert frame["reference"].n_unique() == 9
    assert frame.group_by("content").agg(pl.col("reference").n_unique())["reference"].to_list() == [1] * 9
    expected = json.loads(shared("votes/nflx_public/nflx_public.expected.json").read_text())
    mos = frame.group_by("item").agg(pl.col("value").mean()).sort("item")["value"].to_list()
    assert mos == pytest.approx([expected["mos"]["mean"][item] for item in sorted(expected["mos"]["mean"])], abs=1e-9)
    four_more = import_source("nflx_public", shared("votes/nflx_public/nflx_public_last4random.csv"))
    assert _ratings(four_more)["participant"].n_unique() == 30


def test_bt500_second_layer_repeats_the_first(shared: Shared) -> None:
    frame = _ratings(import_source("bt500_repetitions", shared("votes/bt500_repetitions")))
    assert frame["kind"].value_counts().sort("kind").rows() == [("main", 598), ("repeat", 598)]
    keys = ["participant", "repeat_of"]
    first = frame.filter(pl.col("kind") == "main").select("participant", pl.col("trial").alias("repeat_of"), "value")
    both = frame.filter(pl.col("kind") == "repeat").join(first, on=keys)
    assert both.height == 598
    assert (both["value"] == both["value_right"]).all()


def test_krasula_contents_never_meet(shared: Shared) -> None:
    made = import_source("krasula", shared("votes/krasula_sharpening"))
    frame = _votes(made)
    assert (frame.height, frame["participant"].n_unique()) == (2128, 31)
    by_content = _benchmark(made).items.group_by("content").len()
    assert by_content["len"].to_list() == [8] * 5
    content = dict(_benchmark(made).items.select("item", "content").iter_rows())
    assert all(content[left] == content[right] for left, right in frame.select("left", "right").iter_rows())


def test_pwcmp_items_are_scene_and_operator_unless_pooled(shared: Shared) -> None:
    made = import_source("pwcmp_tmo", shared("votes/pwcmp_tmo"))
    assert (_votes(made).height, _benchmark(made).items.height) == (1213, 35)
    assert _votes(made)["left"][0] == "window/tmo_camera"
    pooled = import_source("pwcmp_tmo", shared("votes/pwcmp_tmo"), pool=True)
    assert _benchmark(pooled).items.height == 7
    assert _votes(pooled)["content"].n_unique() == 5


def test_hdr_vdc_references_merge_and_keep_their_own_votes(shared: Shared) -> None:
    path = shared("votes/hdr_vdc_bright")
    plain = import_source("hdr_vdc", path)
    assert _benchmark(plain).items.height == 264
    merged = import_source("hdr_vdc", path, merge_references=True)
    frame = _votes(merged)
    assert frame.height == 12_898
    assert (frame["left"] == frame["right"]).sum() == 146  # README: 146 votes of a reference against itself
    assert _benchmark(merged).items.height == 232 + 16  # 232 published conditions and a reference in each of 16 scenes
    (published,) = merged.scores
    assert published.frame.height == 248
    reference = published.frame.filter(pl.col("item").str.ends_with("/ref"))
    assert reference["score"].unique().to_list() == [10.0]
    assert set(published.frame["item"]) == set(_benchmark(merged).items["item"])


def test_any_table_comes_through_the_same_door(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,winner\nx,y,a\n")
    made = import_source(None, tmp_path / "t.csv")
    assert _votes(made)["choice"].to_list() == ["left"]
    (tmp_path / "n.csv").write_text("left,right,choice\nx,y,1\nx,y,0\n")
    made = import_source("table", tmp_path / "n.csv", choices="1=left;0=right")
    assert _votes(made)["choice"].to_list() == ["left", "right"]
    with pytest.raises(BadConfig, match="choices: 'up' is not one of left, right, tie"):
        import_source("table", tmp_path / "n.csv", choices="1=up,0=right")
    (tmp_path / "r.csv").write_text("who,clip,stars\np,x,3\n")
    made = import_source("table", tmp_path / "r.csv", columns={"participant": "who", "value": "stars"})
    assert _ratings(made)["value"].to_list() == [3.0]
    (tmp_path / "s.csv").write_text("item,niqe\nx,3\n")
    assert import_source("table", tmp_path / "s.csv", kind="scores").scores[0].name == "niqe"


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        ("kitow", {}, UnknownName, "no source 'kitow'; did you mean 'kitov'"),
        ("table", {"colums": {}}, UnknownName, "no option of source table 'colums'; did you mean 'columns'"),
        ("table", {"kind": "marks"}, BadConfig, "kind 'marks' is not one of votes, ratings, scores"),
        ("table", {"choices": {"1": "left"}}, BadConfig, "choices say how votes are written"),
        ("table", {"missing": "skip"}, BadConfig, "missing 'skip' is not one of refuse, drop"),
        ("table", {"copies": "two"}, BadConfig, "copies 'two' is not one of drop, keep"),
        ("table", {"separator": "::"}, BadInput, "separator '::' is not one plain character"),
    ],
)
def test_a_slip_in_a_name_or_an_option_is_refused(
    tmp_path: Path, source: str, options: dict[str, object], error: type[BadInput], message: str
) -> None:
    (tmp_path / "r.csv").write_text("item,value\nx,3\n")
    with pytest.raises(error, match=message):
        import_source(source, tmp_path / "r.csv", **options)


def test_a_folder_of_nothing_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no known layout in the folder"):
        import_source(None, tmp_path)
    with pytest.raises(NotFound, match="no file or folder"):
        import_source(None, tmp_path / "nowhere")
    with pytest.raises(NotFound, match=r"no votes\.csv in"):
        import_source("krasula", tmp_path)


def test_a_layout_with_a_column_missing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("rater,item,score\np,x,3\n")
    with pytest.raises(BadTable, match="column 'repetition' of this layout is missing"):
        import_source("bt500_repetitions", tmp_path)


@pytest.mark.parametrize("name", SOURCES.names())
def test_every_source_says_what_it_is(name: str) -> None:
    source = SOURCES.get(name)
    assert source.name == name
    assert len(source.summary) > 20
    assert "\n" not in source.summary
    assert len(source.licence) > 10
    assert len(source.citation) > 10
    assert set(source.gives) <= {"benchmark", "votes", "ratings", "scores"}
