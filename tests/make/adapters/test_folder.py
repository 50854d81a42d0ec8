"""Ready results in folders: fourteen layouts, patterns, manifests, and what is never guessed."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from PIL import Image

from installed import lacking
from make.adapters.adapter_world import Jobs, Paint, smooth
from paragone.errors import BadConfig, BadInput, BadTable, NotFound, UnknownName
from paragone.images import read_image, write_image
from paragone.make.adapters import LAYOUTS, FolderMethod, detect_layout, folder_outcomes, read_folder
from paragone.make.adapters.likeness import Likeness
from paragone.make.cells import Job, land


def _read(root: Path, jobs: list[Job], layout: str, **more: object) -> dict[tuple[str, ...], str]:
    settings = FolderMethod(root=root.name, layout=layout, **more)  # type: ignore[arg-type]
    return dict(read_folder(settings, jobs, folder=root.parent).found)


def _statuses(settings: FolderMethod, jobs: list[Job], folder: Path) -> dict[str, tuple[str, str]]:
    return {job.item: (out.status, out.reason) for job, out in folder_outcomes(settings, jobs, folder=folder)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ready").mkdir()
    return tmp_path / "ready"


def _touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"name only")


NAMED = {
    "content_stylized_style": "{content}_stylized_{style}.jpg",
    "adaattn": "results/ours/test_latest/images/{style}_{content}_cs.png",
    "omnistyle": "{content}@{style}.jpeg.jpg",
    "wct": "samples/{content}_{style}.jpg",
    "content_id_style_size": "content_{content}___style_{style}___512.jpg",
    "inst": "{content}-{style}-0003.png",
    "imagenhub": "sample_{content}_{style}.jpg",
    "paired_folders": "stylized/{style} {content}.png",
    "pair": "{style}-{content}.png",
}


@pytest.mark.parametrize("layout", NAMED)
def test_a_named_layout_finds_every_cell_and_is_detected_first(layout: str, root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()
    expected = {tuple(job.levels.values()): NAMED[layout].format(**job.levels) for job in jobs}
    _touch(root, *expected.values())
    assert _read(root, jobs, layout) == expected
    best = detect_layout(root, jobs)
    assert layout in [rate.layout for rate in best if (rate.found, rate.cells, rate.unmatched) == (6, 6, 0)]


def test_each_of_the_fourteen_layouts_is_documented() -> None:
    assert len(LAYOUTS) == 14
    for layout in LAYOUTS.values():
        assert len(layout.summary) > 20
        assert len(layout.source) > 10


def test_adaattn_takes_the_result_and_skips_its_inputs(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "wave_cat_cs.png", "wave_cat_c.png", "wave_cat_s.png", "cat_wave_cs.png")
    read = read_folder(FolderMethod(root="ready", layout="adaattn"), jobs_of(), folder=root.parent)
    assert read.found == {("cat", "wave"): "wave_cat_cs.png"}
    assert set(read.skipped) == {"wave_cat_c.png", "wave_cat_s.png"}
    assert set(read.unmatched) == {"cat_wave_cs.png"}


def test_cast_finds_the_style_by_the_pixels_of_its_copy(root: Path, jobs_of: Jobs, paint: Paint) -> None:
    jobs = jobs_of(styles=("wave", "spring"))
    for style, job in (("wave", jobs[0]), ("spring", jobs[3])):
        content = job.levels["content"]
        paint(root / f"{content}_fake_B.png", 7)
        paint(root / f"{content}_real_A.png", 8)
        copy = read_image(job.inputs["style"])
        assert job.levels["style"] == style
        write_image(np.ascontiguousarray(copy[:, 4:28]), root / f"{content}_real_B.png")  # centre crop
    read = read_folder(FolderMethod(root="ready", layout="cast"), jobs, folder=root.parent)
    assert read.found == {("cat", "wave"): "cat_fake_B.png", ("hopper", "spring"): "hopper_fake_B.png"}
    assert len(read.skipped) == 4


def test_cast_does_not_guess_a_style_that_is_none_of_the_references(root: Path, jobs_of: Jobs, paint: Paint) -> None:
    paint(root / "cat_fake_B.png", 7)
    paint(root / "cat_real_B.png", 999)
    read = read_folder(FolderMethod(root="ready", layout="cast"), jobs_of(), folder=root.parent)
    assert (read.found, read.unmatched) == ({}, {"cat_fake_B.png": "nothing says its style"})


@pytest.mark.parametrize(
    ("styles", "contents"),
    [
        ("art/styles", "art/contents"),
        pytest.param(
            "images/kitov_style_transfer/styles", "images/kitov_style_transfer/contents", marks=pytest.mark.slow
        ),
    ],
)
def test_real_paintings_squeezed_to_a_square_and_saved_as_jpeg_are_told_apart(
    styles: str, contents: str, shared: Callable[[str], Path], root: Path
) -> None:
    paintings = {path.stem: path for path in shared(styles).glob("*.jpg")}
    likeness = Likeness(paintings)
    assert len(paintings) > 10
    for name, path in paintings.items():
        with Image.open(path) as image:
            image.convert("RGB").resize((256, 256), Image.Resampling.BICUBIC).save(root / "copy.jpg", quality=50)
        assert likeness.level(root / "copy.jpg") == name
    for path in shared(contents).glob("*.jpg"):
        assert likeness.level(path) is None


def test_wct_pairs_equal_names_by_the_pixels_of_both_copies(root: Path, jobs_of: Jobs, paint: Paint) -> None:
    jobs = jobs_of()
    for number, job in enumerate(jobs):
        for factor in ("content", "style"):
            write_image(read_image(job.inputs[factor]), root / factor / f"pair{number}.png") if (
                (root / factor).mkdir(exist_ok=True) or True
            ) else None
        paint(root / "samples" / f"pair{number}.jpg", number)
    read = read_folder(FolderMethod(root="ready", layout="wct"), jobs, folder=root.parent)
    assert read.found == {tuple(job.levels.values()): f"samples/pair{k}.jpg" for k, job in enumerate(jobs)}


def test_folders_whose_stems_disagree_are_not_paired_by_order(root: Path, jobs_of: Jobs, paint: Paint) -> None:
    paint(root / "content" / "a.png", 0)
    paint(root / "style" / "b.png", 100)
    paint(root / "stylized" / "c.png", 7)
    read = read_folder(FolderMethod(root="ready", layout="paired_folders"), jobs_of(), folder=root.parent)
    assert (read.found, set(read.unmatched)) == ({}, {"stylized/c.png"})


def test_omnistyle_triptychs_are_cropped_to_the_right_third(root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of(contents=("cat",), styles=("a wave____1890", "spring"))
    parts = [smooth(k) for k in (1, 2, 3)]
    write_image(np.concatenate(parts, axis=1), root / "cat@a wave____1890.jpeg.png")
    write_image(smooth(1, 24, 31), root / "cat@spring.png")
    settings = FolderMethod(root="ready", layout="omnistyle")
    records = [land(job, outcome) for job, outcome in folder_outcomes(settings, jobs, folder=root.parent)]
    assert [record["status"] for record in records] == ["ok", "invalid"]
    assert np.abs(read_image(jobs[0].target) - parts[2]).max() <= 0.5 / 255 + 1e-6
    assert "31 pixels wide, which is not three pictures side by side" in records[1]["reason"]


def test_uso_is_read_by_the_settings_beside_each_picture(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "out/x1_0.png", "out/x2_0.png", "out/x3_0.png")
    for name, paths in (("x1", ["in/cat.png", "in\\great_wave.jpg"]), ("x2", ["hopper.jpg", "moon.jpg"])):
        (root / "out" / f"{name}_0.json").write_text(json.dumps({"image_paths": paths, "seed": 3407}))
    read = read_folder(FolderMethod(root="ready", layout="uso"), jobs_of(), folder=root.parent)
    assert read.found == {("cat", "great_wave"): "out/x1_0.png"}
    assert set(read.unmatched) == {"out/x2_0.png", "out/x3_0.png"}


def test_usos_own_list_serves_as_manifest(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "sub/a_0.png")
    (root / "eval.json").write_text(
        json.dumps([{"prompt": "", "image_paths": ["cat.png", "wave.png"], "save_dir": "sub/a"}])
    )
    read = read_folder(FolderMethod(root="ready", manifest="eval.json"), jobs_of(), folder=root.parent)
    assert read.found == {("cat", "wave"): "sub/a_0.png"}


def test_inst_takes_the_style_from_the_folder_or_from_the_settings(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "wave/cat-_-0000.png", "hopper-_-0001.png")
    read = read_folder(FolderMethod(root="ready", layout="inst"), jobs_of(), folder=root.parent)
    assert read.found == {("cat", "wave"): "wave/cat-_-0000.png"}
    assert read.unmatched == {"hopper-_-0001.png": "nothing says its style"}
    fixed = FolderMethod(root="ready", layout="inst", fixed={"style": "spring"})
    read = read_folder(fixed, jobs_of(), folder=root.parent)
    assert read.found == {("hopper", "spring"): "hopper-_-0001.png"}
    assert read.unmatched == {"wave/cat-_-0000.png": "its name says style 'wave', not 'spring'"}


def test_imagenhub_reads_one_models_folder_and_looks_ids_up(root: Path, prompt_jobs: Jobs) -> None:
    jobs = prompt_jobs(["p1", "p2"], method="sdxl", texts=["a red car", "a blue cat"])
    _touch(
        root, "exp/SDXL/sample_17.jpg", "exp/SDXL/sample_p2.jpg", "exp/Other/sample_17.jpg", "exp/input/sample_17.jpg"
    )
    (root / "exp/dataset_lookup.json").write_text(json.dumps({"sample_17.jpg": {"prompt": "a red car"}}))
    settings = FolderMethod(root="ready", layout="imagenhub", names={"method": {"sdxl": "SDXL"}})
    read = read_folder(settings, jobs, folder=root.parent)
    assert read.found == {("p1",): "exp/SDXL/sample_17.jpg", ("p2",): "exp/SDXL/sample_p2.jpg"}
    assert set(read.unmatched) == {"exp/Other/sample_17.jpg"}
    assert set(read.skipped) == {"exp/input/sample_17.jpg"}


def test_geneval_numbers_may_have_four_or_five_digits_and_two_samples_are_a_duplicate(
    root: Path, prompt_jobs: Jobs
) -> None:
    _touch(root, "00000/samples/0000.png", "0001/samples/00000.png", "00002/samples/0000.png", "00002/samples/0001.png")
    _touch(root, "00000/grid.png", "x/samples/0000.png")
    (root / "x" / "metadata.jsonl").write_text(json.dumps({"prompt": "a photo of a bench"}))
    jobs = prompt_jobs(["0", "1", "2", "bench"], texts=["a", "b", "c", "a photo of a bench"])
    read = read_folder(FolderMethod(root="ready", layout="geneval"), jobs, folder=root.parent)
    assert read.found == {
        ("0",): "00000/samples/0000.png",
        ("1",): "0001/samples/00000.png",
        ("bench",): "x/samples/0000.png",
    }
    assert read.duplicates == {("2",): ("00002/samples/0000.png", "00002/samples/0001.png")}
    assert read.skipped == {"00000/grid.png": "grids"}


def test_a_prompt_can_be_the_name(root: Path, prompt_jobs: Jobs) -> None:
    _touch(root, "a red car_000003.png", "a blue cat-0.png")
    read = _read(root, prompt_jobs(["r", "b"], texts=["a red car", "a blue cat"]), "prompt_number")
    assert read == {("r",): "a red car_000003.png", ("b",): "a blue cat-0.png"}


def test_ids_of_label_files_are_taken_whole_and_backslashes_are_folders(root: Path, prompt_jobs: Jobs) -> None:
    _touch(root, "deepai_0_0_0_0.jpg", "deepai_0_0_0_1.jpg", "Controlnet\\000-1.png", "AttnGAN_normal_001.jpg")
    assert _read(root, prompt_jobs(["deepai_0_0_0_0", "0_0_0_1"]), "agiqa") == {
        ("deepai_0_0_0_0",): "deepai_0_0_0_0.jpg",
        ("0_0_0_1",): "deepai_0_0_0_1.jpg",
    }
    assert _read(root, prompt_jobs(["000"], method="Controlnet"), "agiqa") == {("000",): "Controlnet\\000-1.png"}
    assert _read(root, prompt_jobs(["001"], method="AttnGAN"), "agiqa") == {("001",): "AttnGAN_normal_001.jpg"}


def test_iterates_grids_and_files_of_the_system_are_skipped(root: Path, jobs_of: Jobs) -> None:
    _touch(
        root,
        "cat_wave.png",
        "cat_wave_100.png",
        "cat_wave_900.png",
        "grid-0001.png",
        ".DS_Store",
        "Thumbs.db",
        "._cat_wave.png",
    )
    read = read_folder(FolderMethod(root="ready", layout="pair"), jobs_of(), folder=root.parent)
    assert read.found == {("cat", "wave"): "cat_wave.png"}
    assert len(read.skipped) == 6
    assert read.unmatched == {}


def test_an_id_that_ends_in_a_number_is_no_iterate(root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of(contents=("cat",), styles=("wave", "wave_2"))
    _touch(root, "cat_stylized_wave.png", "cat_stylized_wave_2.png")
    assert len(_read(root, jobs, "content_stylized_style")) == 2


def test_a_name_with_two_readings_is_told_and_not_guessed(root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of(contents=("a", "a_b"), styles=("c", "b_c"))
    _touch(root, "a_b_c.png", "a_c.png")
    settings = FolderMethod(root="ready", layout="pair")
    told = _statuses(settings, jobs, root.parent)
    assert told["adain/a/c"] == ("ok", "")
    for item in ("adain/a/b_c", "adain/a_b/c"):
        assert told[item][0] == "ambiguous"
        assert "'a_b_c.png' can be read as a/b_c or a_b/c" in told[item][1]
    assert told["adain/a_b/b_c"] == ("missing", "no file in 'ready' by pair")


def test_ids_of_finished_cells_still_count(root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of(contents=("a", "a_b"), styles=("c", "b_c"))
    _touch(root, "a_b_c.png")
    wanted = [job for job in jobs if job.item == "adain/a_b/c"]
    given = folder_outcomes(FolderMethod(root="ready", layout="pair"), wanted, folder=root.parent, known=jobs)
    assert [outcome.status for _, outcome in given] == ["ambiguous"]


def test_two_files_for_one_cell_are_both_named(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "a/cat_stylized_wave.png", "b/cat_stylized_wave.jpg")
    told = _statuses(FolderMethod(root="ready", layout="content_stylized_style"), jobs_of(), root.parent)
    assert told["adain/cat/wave"] == (
        "ambiguous",
        "several files for this cell: 'a/cat_stylized_wave.png' and 'b/cat_stylized_wave.jpg'; keep one",
    )


def test_ids_cut_at_their_first_dot_are_still_known(root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of(contents=("photo.v1", "other"), styles=("wave",))
    _touch(root, "photo_stylized_wave.png")
    assert _read(root, jobs, "content_stylized_style") == {("photo.v1", "wave"): "photo_stylized_wave.png"}


def test_accents_spelt_in_two_ways_are_one_name(root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of(contents=(unicodedata.normalize("NFC", "café"), "猫"), styles=("wave",))
    _touch(root, unicodedata.normalize("NFD", "café") + "_stylized_wave.png", "猫_stylized_wave.png")
    assert len(_read(root, jobs, "content_stylized_style")) == 2


def test_case_counts_unless_told_otherwise(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "Cat_stylized_WAVE.png", "cat_stylized_spring.png")
    assert len(_read(root, jobs_of(), "content_stylized_style")) == 1
    assert len(_read(root, jobs_of(), "content_stylized_style", fold_case=True)) == 2


def test_names_that_differ_only_in_case_are_told(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "cat_stylized_wave.png", "Cat_stylized_wave.png")
    read = read_folder(FolderMethod(root="ready", layout="content_stylized_style"), jobs_of(), folder=root.parent)
    assert "files that are the same but for case or accents' spelling: Cat_stylized_wave.png and cat_st" in read.text
    read = read_folder(FolderMethod(root="ready", layout="pair"), jobs_of(contents=("cat", "Cat")), folder=root.parent)
    assert "levels of content that are the same but for case or accents' spelling: Cat and cat" in read.text
    with pytest.raises(BadConfig, match="would both be read from 'cat'"):
        _read(root, jobs_of(contents=("cat", "Cat")), "content_stylized_style", fold_case=True)


def test_a_pattern_of_ones_own_reads_any_depth(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "spring/run7/cat.v2.png", "spring/run7/x/cat.v2.png")
    settings = FolderMethod(root="ready", pattern="{style}/*/{content}.v{n}.{ext}")
    assert read_folder(settings, jobs_of(), folder=root.parent).found == {("cat", "spring"): "spring/run7/cat.v2.png"}


@pytest.mark.parametrize(
    ("pattern", "error", "message"),
    [
        ("{content}_{stile}.png", UnknownName, "no placeholder in pattern .* 'stile'; did you mean 'style'"),
        ("{content}.png", BadConfig, "says nothing of style; add {style} or `fixed.style`"),
        ("../{content}_{style}.png", BadConfig, "leaves the folder"),
        ("/data/{content}_{style}.png", BadConfig, "leaves the folder"),
        ("{content}_{style.png", BadConfig, "a brace without its partner"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_refused(
    pattern: str, error: type[Exception], message: str, root: Path, jobs_of: Jobs
) -> None:
    with pytest.raises(error, match=message):
        read_folder(FolderMethod(root="ready", pattern=pattern), jobs_of(), folder=root.parent)


def test_settings_that_say_too_little_or_too_much_are_refused(root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()
    with pytest.raises(BadConfig, match="needs exactly one of layout, pattern and manifest; none given"):
        read_folder(FolderMethod(root="ready"), jobs, folder=root.parent)
    with pytest.raises(BadConfig, match="layout and manifest given"):
        read_folder(FolderMethod(root="ready", layout="pair", manifest="m.csv"), jobs, folder=root.parent)
    with pytest.raises(UnknownName, match="no layout 'adatn'; did you mean 'adaattn'"):
        read_folder(FolderMethod(root="ready", layout="adatn"), jobs, folder=root.parent)
    with pytest.raises(NotFound, match="no folder"):
        read_folder(FolderMethod(root="nowhere", layout="pair"), jobs, folder=root.parent)
    with pytest.raises(UnknownName, match="no style 'wav'; did you mean 'wave'"):
        read_folder(FolderMethod(root="ready", layout="pair", fixed={"style": "wav"}), jobs, folder=root.parent)
    with pytest.raises(UnknownName, match="no content 'cow'"):
        read_folder(
            FolderMethod(root="ready", layout="pair", names={"content": {"cow": "x"}}), jobs, folder=root.parent
        )
    with pytest.raises(BadConfig, match="layout 'geneval' does not tell content and style"):
        read_folder(FolderMethod(root="ready", layout="geneval"), jobs, folder=root.parent)


def test_a_folder_without_any_cell_says_what_would_read_it(root: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()
    _touch(root, *(f"{job.levels['style']}_{job.levels['content']}_cs.png" for job in jobs))
    with pytest.raises(
        BadInput,
        match=r"no file in 'ready' is a cell such as cat/great_wave by content_stylized_style; it "
        r"holds great_wave_cat_cs.png \(holds 'cat' and 'great_wave', but is not named as this layout names\), .*; "
        r"layout 'adaattn' would find 6 of 6",
    ):
        folder_outcomes(FolderMethod(root="ready", layout="content_stylized_style"), jobs, folder=root.parent)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_manifest_names_each_files_cell(ending: str, root: Path, jobs_of: Jobs) -> None:
    rows = [
        {"file": "a.png", "method": "adain", "content": "cat", "style": "wave", "seed": "7"},
        {"file": "sub\\b.png", "method": "adain", "content": "hopper", "style": "great_wave", "seed": "8"},
        {"file": "c.png", "method": "other", "content": "cat", "style": "wave", "seed": "9"},
        {"file": "d.png", "method": "adain", "content": "cat", "style": "moon", "seed": "9"},
        {"file": "gone.png", "method": "adain", "content": "cat", "style": "spring", "seed": "9"},
    ]
    _touch(root, "a.png", "sub/b.png", "c.png", "d.png")
    if ending == "jsonl":
        (root / "m.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    elif ending == "csv":
        pl.DataFrame(rows).write_csv(root / "m.csv")
    else:
        pl.DataFrame(rows).write_parquet(root / "m.parquet")
    read = read_folder(FolderMethod(root="ready", manifest=f"m.{ending}"), jobs_of(), folder=root.parent)
    assert read.found == {("cat", "wave"): "a.png", ("hopper", "great_wave"): "sub/b.png"}
    assert read.facts["a.png"] == {"seed": "7"}
    assert read.unmatched == {"c.png": "not in the manifest", "d.png": "no style 'moon'"}
    assert "the manifest names 1 files that are not there: gone.png" in read.text


def test_a_manifest_that_leaves_its_folder_is_refused_with_every_fault(root: Path, jobs_of: Jobs) -> None:
    (root / "m.csv").write_text(
        "file,content,style\n../x.png,cat,wave\n/etc/x.png,cat,wave\nC:\\x.png,cat,wave\n,cat,wave\na.png,cat,\n"
        "b.png,cat,wave\nb.png,cat,spring\n"
    )
    with pytest.raises(BadTable) as caught:
        read_folder(FolderMethod(root="ready", manifest="m.csv"), jobs_of(), folder=root.parent)
    assert [fault[:7] for fault in caught.value.faults] == [
        "row 2: ",
        "row 3: ",
        "row 4: ",
        "row 5: ",
        "row 6: ",
        "row 8: ",
    ]
    assert "'../x.png' is not below root" in caught.value.message
    with pytest.raises(BadConfig, match="is not below root"):
        read_folder(FolderMethod(root="ready", manifest="../m.csv"), jobs_of(), folder=root.parent)


def test_a_manifest_that_is_no_json_is_refused(root: Path, jobs_of: Jobs) -> None:
    (root / "m.jsonl").write_text('{"file": ')
    with pytest.raises(BadTable, match=r"m\.jsonl: not valid JSON"):
        read_folder(FolderMethod(root="ready", manifest="m.jsonl"), jobs_of(), folder=root.parent)


def test_a_found_file_is_landed_with_where_it_came_from(root: Path, jobs_of: Jobs, paint: Paint) -> None:
    jobs = jobs_of(contents=("cat",), styles=("wave", "spring"))
    paint(root / "cat_stylized_wave.png", 5)
    (root / "cat_stylized_spring.png").write_bytes((root / "cat_stylized_wave.png").read_bytes()[:40])
    settings = FolderMethod(root="ready", layout="content_stylized_style")
    records = [land(job, outcome) for job, outcome in folder_outcomes(settings, jobs, folder=root.parent)]
    assert [record["status"] for record in records] == ["ok", "invalid"]
    assert records[0]["facts"]["file"] == "cat_stylized_wave.png"
    assert len(records[0]["facts"]["file_sha256"]) == 64


def test_the_reading_is_told_in_a_few_lines(root: Path, jobs_of: Jobs) -> None:
    _touch(
        root, "cat_stylized_wave.png", "x/cat_stylized_spring.png", "y/cat_stylized_spring.png", "moon.png", ".DS_Store"
    )
    read = read_folder(FolderMethod(root="ready", layout="content_stylized_style"), jobs_of(), folder=root.parent)
    assert read.rate == pytest.approx(1 / 6)
    assert read.text.splitlines() == [
        "layout content_stylized_style: 1 of 6 cells have one file",
        "4 without a file: cat/great_wave, hopper/great_wave, hopper/spring, hopper/wave",
        "1 with several files: cat/spring (x/cat_stylized_spring.png and y/cat_stylized_spring.png)",
        "1 files that are no cell: moon.png (no name of this layout with known ids)",
        "skipped: 1 files of the system",
    ]


def test_a_name_with_known_ids_that_is_written_otherwise_is_told_so(root: Path, jobs_of: Jobs) -> None:
    _touch(root, "cat_stylised_spring.png", "dog_stylized_spring.png")
    read = read_folder(FolderMethod(root="ready", layout="content_stylized_style"), jobs_of(), folder=root.parent)
    assert read.unmatched == {
        "cat_stylised_spring.png": "holds 'cat' and 'spring', but is not named as this layout names",
        "dog_stylized_spring.png": "no name of this layout with known ids",
    }


def test_unknown_keys_of_the_table_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `rot`"):
        msgspec.convert({"kind": "folder", "root": "x", "rot": 1}, FolderMethod)


def test_a_name_that_is_no_text_is_skipped(root: Path, jobs_of: Jobs) -> None:
    import os

    _touch(root, "cat_stylized_wave.png")
    try:
        (root / os.fsdecode(b"caf\xe9_stylized_wave.png")).write_bytes(b"")
    except OSError:
        lacking("this disk takes no name that is no UTF-8")
    read = read_folder(FolderMethod(root="ready", layout="content_stylized_style"), jobs_of(), folder=root.parent)
    assert list(read.skipped.values()) == ["names that are no UTF-8"]
    assert read.text.encode()


def test_a_link_to_a_picture_is_read_and_a_linked_folder_is_not_entered(
    root: Path, jobs_of: Jobs, paint: Paint
) -> None:
    paint(root.parent / "store" / "cat_stylized_wave.png", 3)
    (root / "cat_stylized_spring.png").symlink_to(root.parent / "store" / "cat_stylized_wave.png")
    (root / "all").symlink_to(root.parent / "store")
    (root / "all2").symlink_to(root)
    jobs = jobs_of()
    read = read_folder(FolderMethod(root="ready", layout="content_stylized_style"), jobs, folder=root.parent)
    assert read.found == {("cat", "spring"): "cat_stylized_spring.png"}
