"""Reading and writing tables: what is kept, what is found out, and the laws of writing and reading back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from installed import needed
from paragone.errors import BadInput, BadTable, MissingExtra, UnknownName
from paragone.judgements import Ratings, Votes
from paragone.tables import (
    Column,
    Schema,
    checked,
    column_names,
    delimited,
    encode,
    open_table,
    read_table,
    shape,
    whole_file,
    write_table,
)

Make = Callable[[str, bytes | str], Path]
HERE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a file and give its path."""

    def build(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return build


def test_ids_keep_their_zeros_and_words_for_missing_stay_ids(make: Make) -> None:
    frame = read_table(make("t.csv", "item,other\n001,NA\nNA,1.0\nnull,\n"))
    assert frame["item"].to_list() == ["001", "NA", "null"]
    assert frame["other"].to_list() == ["NA", "1.0", None]


@pytest.mark.parametrize(
    ("content", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1,2\t3\n", "\t"),
        ("a|b\nx, y|2\n", "|"),
        ('a;b\n"x;y;z";2\n', ";"),
        ('"a,1";b\n"x,y";2\n', ";"),
        ("a\nx\n", ","),
        ("a;b,c;d\n1;2;3\n", ";"),
    ],
)
def test_the_separator_is_the_one_that_splits_every_row_alike(make: Make, content: str, separator: str) -> None:
    assert open_table(make("t.csv", content)).separator == separator


def test_a_tsv_is_split_at_tabs_only(make: Make) -> None:
    frame = read_table(make("t.tsv", "a,b\tc\n1,2\t3\n"))
    assert frame.columns == ["a,b", "c"]
    assert frame.row(0) == ("1,2", "3")


def test_a_separator_can_be_named_where_two_would_do(make: Make) -> None:
    path = make("t.csv", "left;right,choice\na;b,left\n")
    assert open_table(path, separator=",").frame.columns == ["left;right", "choice"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_line_ends_and_encodings_change_nothing(make: Make, end: str, encoding: str) -> None:
    text = end.join(["item,value", "é,1", '"x,y",2', "日本,3", ""])
    table = open_table(make("t.csv", text.encode(encoding)))
    assert table.frame.rows() == [("é", "1"), ("x,y", "2"), ("日本", "3")]
    assert any("UTF-16" in note for note in table.notes) == (encoding == "utf-16")


def test_an_encoding_can_be_named(make: Make) -> None:
    path = make("t.csv", "item\ncafé\n".encode("cp1252"))
    with pytest.raises(BadTable, match=r"t\.csv, row 2: column 'item' is not valid UTF-8.*often cp1252"):
        read_table(path)
    assert open_table(path, encoding="cp1252").frame["item"].to_list() == ["café"]
    with pytest.raises(UnknownName, match="no encoding 'utf-88'; did you mean 'utf-8'"):
        open_table(path, encoding="utf-88")


def test_quotes_that_open_no_cell_are_plain_characters(make: Make) -> None:
    table = open_table(make("t.csv", 'item,size\nframe,5" by 7"\nbox,3"\n'))
    assert table.frame["size"].to_list() == ['5" by 7"', '3"']
    assert table.notes == ("no cell begins with a quote, so quotes are read as plain characters",)


def test_quoted_cells_may_hold_separators_newlines_and_quotes(make: Make) -> None:
    frame = read_table(make("t.csv", 'a,b\n"x,y","1\n2"\n"say ""hi""",\n'))
    assert frame.rows() == [("x,y", "1\n2"), ('say "hi"', None)]


def test_rows_are_numbered_as_a_spreadsheet_does_after_quoted_newlines(make: Make) -> None:
    with pytest.raises(BadTable, match=r"^t\.csv: row 4: 1 cell where the header has 2$"):
        read_table(make("t.csv", 'a,b\n"1\n2",x\n3,4\n5\n'))


def test_blank_lines_at_the_end_are_no_rows_and_others_are(make: Make) -> None:
    assert read_table(make("t.csv", "a,b\n1,2\n\n3,4\n,\n\n")).rows() == [("1", "2"), (None, None), ("3", "4")]


def test_an_index_column_without_a_name_is_left_out(make: Make) -> None:
    table = open_table(make("t.csv", ",item,\n0,x,\n1,y,\n"))
    assert table.frame.columns == ["item"]
    assert len(table.notes) == 2


def test_another_column_without_a_name_gets_one(make: Make) -> None:
    assert read_table(make("t.csv", "item,\nx,7\n")).columns == ["item", "column_2"]


def test_names_of_columns_come_without_the_rows(make: Make, tmp_path: Path) -> None:
    assert column_names(make("t.csv", 'a;"b;c"; d \n1;2\n')) == ["a", "b;c", "d"]
    pl.DataFrame({"x": [1], "y": ["z"]}).write_parquet(tmp_path / "t.parquet")
    assert column_names(tmp_path / "t.parquet") == ["x", "y"]
    with pytest.raises(BadTable, match=r"^u\.parquet: not a Parquet file"):
        column_names(make("u.parquet", "x"))


def test_names_with_wildcards_are_plain_names(tmp_path: Path, make: Make) -> None:
    make("a.csv", "item\nx\n")
    assert read_table(make("[a].csv", "item\ny\n"))["item"].to_list() == ["y"]
    assert read_table(make("a*.csv", "item\nz\n"))["item"].to_list() == ["z"]


def test_a_file_that_may_not_be_opened_is_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = make("t.csv", "a\n1\n")
    monkeypatch.setattr(np, "memmap", refuse)
    with pytest.raises(BadInput, match=r"^cannot open '.*t\.csv': Permission denied$"):
        read_table(path)


CELL = st.text(st.sampled_from('ab1",;\n é'), max_size=5)


@HERE
@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_what_the_csv_module_writes_is_read_back(tmp_path: Path, rows: list[list[str]], end: str) -> None:
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([["h1", "h2", "h3"], *rows])
    table = open_table(tmp_path / "t.csv", separator=",")
    assert [list(row) for row in table.frame.rows()] == rows


@HERE
@given(st.text(st.sampled_from('ab",\n'), max_size=40))
def test_shape_is_judged_the_same_however_the_file_is_cut(tmp_path: Path, text: str) -> None:
    content = np.frombuffer(f"h1,h2\n{text}".encode(), dtype=np.uint8)
    found = []
    for size in (1, 3, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shape, "_CHUNK", size)
            quoted = shape.has_quoted_cells(content, ",")
            found.append((quoted, shape.shape_faults(content, ",", 2, quoted)))
    assert found[0] == found[1] == found[2]


@HERE
@given(st.text(st.sampled_from('ab",\n'), max_size=40))
def test_no_text_is_read_otherwise_than_by_the_csv_module(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_bytes(f"h1,h2\n{text}".encode())
    try:
        read = open_table(tmp_path / "t.csv", separator=",").frame
    except BadTable:
        return
    rows = list(csv.reader(io.StringIO(text)))
    wanted = [row or ["", ""] for row in rows]
    got = [[cell or "" for cell in row] for row in read.rows()]
    while wanted and not any(wanted[-1]):
        wanted.pop()
    while got and not any(got[-1]):
        got.pop()
    assert got == wanted


ANYTHING = st.text(min_size=1, max_size=8).filter(lambda text: "\0" not in text)
IDS = st.one_of(ANYTHING, st.sampled_from(["NA", "001", "1.0", 'a"b', "a,b", "a\nb", "null", " x", "-", "\ufeffx"]))


@HERE
@given(
    st.lists(st.tuples(IDS, st.one_of(st.none(), IDS), st.floats(allow_nan=False)), min_size=1, max_size=10),
    st.sampled_from(["t.csv", "t.tsv", "t.parquet"]),
)
def test_what_is_written_is_read_back(tmp_path: Path, rows: list[tuple[str, str | None, float]], name: str) -> None:
    frame = pl.DataFrame(rows, schema={"item": pl.String, "note": pl.String, "value": pl.Float64}, orient="row")
    read = read_table(write_table(frame, tmp_path / name))
    assert read["item"].to_list() == frame["item"].to_list()
    assert read["note"].to_list() == frame["note"].to_list()
    assert read["value"].cast(pl.Float64).to_list() == frame["value"].to_list()


@HERE
@given(st.lists(st.lists(IDS, min_size=1, max_size=20), min_size=1, max_size=3))
def test_encoding_is_undone_by_the_levels(columns: list[list[str]]) -> None:
    levels, codes = encode([pl.Series("c", column, dtype=pl.String) for column in columns])
    assert levels == sorted(set().union(*columns))
    for column, code in zip(columns, codes, strict=True):
        assert code.dtype == pl.Int64
        assert [levels[k] for k in code] == column


def test_nothing_is_encoded_as_nothing() -> None:
    levels, codes = encode(pl.Series("c", [], dtype=pl.String))
    assert levels == []
    assert codes[0].to_list() == []


COLUMNS = Schema(
    "sheet",
    (
        Column(name="item", kind="id", doc="", required=True, nullable=False),
        Column(name="n", kind="whole", doc="", low=0, high=10),
        Column(name="x", kind="number", doc=""),
        Column(name="on", kind="flag", doc=""),
        Column(name="word", kind="text", doc="", choices=("a", "b")),
    ),
)


def test_a_contract_types_columns_and_adds_what_is_missing() -> None:
    frame = checked(pl.DataFrame({"extra": [1], "n": ["3.0"], "item": ["NA"], "x": ["NA"], "word": ["NA"]}), COLUMNS)
    assert frame.columns == ["item", "n", "x", "on", "word", "extra"]
    assert frame.row(0) == ("NA", 3, None, None, None, 1)


@pytest.mark.parametrize(
    ("column", "given_", "made"),
    [
        ("item", [1.0, 2.0], ["1", "2"]),
        ("item", [1, 20], ["1", "20"]),
        ("n", ["1", "10"], [1, 10]),
        ("n", [1.0, None], [1, None]),
        ("x", ["1e-3", " 2 "], [0.001, 2.0]),
        ("x", [float("nan"), 1.0], [None, 1.0]),
        ("on", ["TRUE", "0"], [True, False]),
        ("on", [1, 0], [True, False]),
    ],
)
def test_cells_are_typed(column: str, given_: list[object], made: list[object]) -> None:
    frame = pl.DataFrame({"item": ["a", "b"]}).with_columns(pl.Series(column, given_))
    assert checked(frame, COLUMNS)[column].to_list() == made


@pytest.mark.parametrize(
    ("column", "cell", "problem"),
    [
        ("n", "1.5", "row 2: n '1.5' is not a whole number"),
        ("n", "11", "row 2: n '11' is above 10"),
        ("n", "-1", "row 2: n '-1' is below 0"),
        ("x", "1,5", "row 2: x '1,5' is not a finite number"),
        ("on", "maybe", "row 2: on 'maybe' is not a true or false"),
        ("word", "c", "row 2: word 'c' is not one of a, b"),
        ("item", " ", "row 2: item is empty"),
    ],
)
def test_a_cell_outside_the_contract_is_named(column: str, cell: str, problem: str) -> None:
    frame = pl.DataFrame({"item": ["a"]}).with_columns(pl.Series(column, [cell]))
    with pytest.raises(BadTable) as caught:
        checked(frame, COLUMNS, where="t.csv")
    assert caught.value.faults == (problem,)
    assert caught.value.message == f"t.csv: {problem}"


def test_all_faults_come_together_under_the_names_and_rows_of_the_file() -> None:
    frame = pl.DataFrame({"item": [None, "b"], "n": ["x", "y"]})
    with pytest.raises(BadTable) as caught:
        checked(frame, COLUMNS, called={"item": "clip"}, rows=pl.Series([7, 9]))
    assert caught.value.faults == (
        "row 7: clip is empty",
        "row 7: n 'x' is not a whole number",
        "row 9: n 'y' is not a whole number",
    )


def test_whole_numbers_beyond_floats_stay_exact() -> None:
    frame = pl.DataFrame({"item": ["a"], "k": ["9007199254740993"]})
    schema = Schema("t", (Column(name="k", kind="whole", doc=""),))
    assert checked(frame, schema)["k"].to_list() == [9007199254740993]


def test_a_fault_of_the_disk_names_the_file_even_where_the_engine_does_not(tmp_path: Path) -> None:
    path = tmp_path / "plan.csv"

    def write_half() -> None:
        with whole_file(path) as aside:
            aside.write_text("half")
            raise OSError("No space left on device (os error 28)")

    with pytest.raises(OSError, match="No space left on device") as caught:
        write_half()
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


def test_what_stood_there_survives_a_failed_write(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")

    def write_half() -> None:
        with whole_file(path) as aside:
            aside.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_half()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]


def test_other_endings_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no table format '.ods'"):
        write_table(pl.DataFrame({"a": [1]}), tmp_path / "t.ods")


def _workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    openpyxl = needed("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_workbook_gives_text_cells_and_numbers_without_points(tmp_path: Path) -> None:
    rows: list[list[object]] = [["item", "value", None], ["001", 3.5, None], [2, 4, None], [3.0, None, None]]
    table = open_table(_workbook(tmp_path / "t.xlsx", {"A": rows, "B": [["x"]]}))
    assert table.frame.rows() == [("001", "3.5"), ("2", "4"), ("3", None)]
    assert table.notes == ("sheet 'A' of 2 is read",)
    assert open_table(tmp_path / "t.xlsx", sheet="B").frame.columns == ["x"]
    with pytest.raises(UnknownName, match=r"no sheet in t\.xlsx 'C'; there is A, B"):
        open_table(tmp_path / "t.xlsx", sheet="C")


def test_a_table_may_begin_anywhere_on_a_sheet(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "t.xlsx", {"A": [[], [], [None, "item", "value"], [None, "a", 1]]})
    table = open_table(path)
    assert table.frame.rows() == [("a", "1")]
    assert table.first == 4


def test_dates_matter_only_where_their_column_is_used(tmp_path: Path) -> None:
    import datetime

    rows: list[list[object]] = [["item", "value", "day"], ["a", 1, datetime.date(2024, 3, 4)]]
    path = _workbook(tmp_path / "t.xlsx", {"A": rows})
    assert list(open_table(path).doubts) == ["day"]
    with pytest.raises(BadTable, match=r"^t\.xlsx: row 2: day '2024-03-04' is a date"):
        read_table(path)


def test_without_its_library_a_workbook_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    path = _workbook(tmp_path / "t.xlsx", {"A": [["x"]]})
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingExtra, match=r"reading t\.xlsx needs fastexcel: pip install 'paragone\[xlsx\]'"):
        open_table(path)


@pytest.mark.slow
def test_a_million_votes_are_read_in_seconds(tmp_path: Path) -> None:
    import time

    rng = np.random.default_rng(0)
    ids = np.array([f"content_{k:03d}/method_{k % 10}" for k in range(1000)])
    frame = pl.DataFrame(
        {"left": ids[rng.integers(0, 1000, 1_000_000)], "right": ids[rng.integers(0, 1000, 1_000_000)]}
    )
    path = write_table(frame, tmp_path / "t.csv")
    start = time.perf_counter()
    read = read_table(path)
    assert read.equals(frame)
    assert time.perf_counter() - start < 10  # a second where nothing else runs; a Python loop takes a minute


@pytest.mark.parametrize("columns", [10_001, 100_003])
def test_a_table_of_very_many_columns_is_refused_by_their_number(make: Make, columns: int) -> None:
    # of 100,003 columns, 39,037 were seen, as many as the sample holds that finds the separator
    line = ",".join(f"c{k}" for k in range(columns))
    with pytest.raises(BadTable, match=rf"t\.csv, row 1: {columns} columns; a table of text has at most 10,000"):
        open_table(make("t.csv", f"{line}\n{line}\n"))
    with pytest.raises(BadTable, match="at most 10,000"):
        column_names(make("t.csv", f"{line}\n{line}\n"))


def test_a_header_longer_than_the_sample_is_read_whole(make: Make) -> None:
    names = [f"a column with a rather long name, number {k}" for k in range(10_000)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, ["x"] * len(names)])
    assert len(text.getvalue()) > delimited._SAMPLE
    table = open_table(make("t.csv", text.getvalue()))
    assert table.frame.columns == names
    assert table.frame.height == 1


def test_a_quote_in_the_header_that_never_closes_is_told(make: Make) -> None:
    text = '"item,score\n' + "a,1\n" * 40_000
    with pytest.raises(BadTable, match=r"row 1: the header cannot be read .* is there a quote that never closes"):
        open_table(make("t.csv", text))


WORDS = Schema(
    "words",
    (
        Column(name="item", kind="id", doc="an id"),
        Column(name="said", kind="text", doc="a text"),
    ),
)


def test_nan_in_a_column_of_ids_is_an_empty_cell() -> None:
    ids = pl.DataFrame({"item": [1.0, float("nan"), None, 2.0]})
    assert checked(ids, WORDS)["item"].to_list() == ["1", None, None, "2"]
    assert checked(pl.DataFrame({"item": [float("nan")] * 2}), WORDS)["item"].to_list() == [None, None]
    needed = Schema("needed", (Column(name="item", kind="id", doc="an id", nullable=False),))
    with pytest.raises(BadTable, match="row 3: item is empty"):
        checked(ids, needed)
    with pytest.raises(BadTable, match="infinite numbers, which are no ids"):
        checked(pl.DataFrame({"item": [1.0, float("inf")]}), WORDS)
    with pytest.raises(BadTable, match="have lost digits"):
        checked(pl.DataFrame({"item": [2.0**60]}), WORDS)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0xFEFF, 0x200B])
def test_an_id_with_a_control_character_is_read_back_or_refused_with_its_place(
    tmp_path: Path, code: int, ending: str
) -> None:
    frame = pl.DataFrame({"item": ["plain", f"a{chr(code)}b"], "said": [None, f"{chr(code)}x"]})
    if code == 0:
        with pytest.raises(BadTable, match=r"row 3: item 'a\?b' holds a zero byte.*; row 3: said '\?x' holds"):
            checked(frame, WORDS)
        return
    held = checked(frame, WORDS)
    back = checked(read_table(write_table(held, tmp_path / f"t{ending}")), WORDS)
    assert back.equals(held)


def test_a_zero_byte_in_a_column_beside_the_contract_is_refused_too() -> None:
    with pytest.raises(BadTable, match=r"row 2: method 'm[?]1' holds a zero byte"):
        checked(pl.DataFrame({"item": ["a"], "method": ["m\0001"]}), WORDS)


def _lookalike(name: str) -> object:
    return type(name, (), {"__module__": "pandas.core.frame"})()


@pytest.mark.parametrize(
    ("given_", "kind"),
    [
        (None, "NoneType"),
        ([{"item": "a"}], "list"),
        ({"item": ["a"]}, "dict"),
        (Path("votes.csv"), "PosixPath|WindowsPath"),
        (pl.LazyFrame({"item": ["a"]}), r"LazyFrame; call \.collect\(\) first"),
        (_lookalike("DataFrame"), "a pandas DataFrame; convert it with polars.from_pandas"),
    ],
)
def test_what_is_no_frame_is_refused_with_its_kind(given_: object, kind: str) -> None:
    with pytest.raises(BadTable, match=f"votes: needs a polars DataFrame, not ({kind})"):
        checked(given_, WORDS, where="votes")  # type: ignore[arg-type]
    for noun, name in ((Votes, "votes"), (Ratings, "ratings")):
        with pytest.raises(BadTable, match=f"{name}: needs a polars DataFrame, not ({kind})"):
            noun(given_)  # type: ignore[arg-type]
