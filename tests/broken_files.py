"""Files that must be refused: each made by code, with the one line that its reader owes.

A factory gets a folder and returns the path that it made there. `reader` is the function of `paragone.sources` that
must refuse it, `verb` what a user would have typed ('{file}' stands for the path), `message` a pattern of the line.
"""

from __future__ import annotations

import datetime
import gzip
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

Reader = Literal["votes", "ratings", "scores"]
_VERBS: dict[Reader, tuple[str, ...]] = {
    "votes": ("score", "{file}"),
    "ratings": ("score", "{file}"),
    "scores": ("compare", "{file}", "{file}"),
}


class Broken(NamedTuple):
    """One broken file and what must be said of it."""

    name: str
    make: Callable[[Path], Path]
    message: str
    reader: Reader = "votes"
    error: str = "BadTable"

    @property
    def verb(self) -> tuple[str, ...]:
        """Arguments of the command line that reads such a file."""
        return _VERBS[self.reader]


def _file(name: str, content: bytes | str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def _votes(rows: str, header: str = "participant,left,right,choice") -> Callable[[Path], Path]:
    return _file("votes.csv", f"{header}\n{rows}\n")


def _ratings(rows: str, header: str = "participant,item,value") -> Callable[[Path], Path]:
    return _file("ratings.csv", f"{header}\n{rows}\n")


def _scores(rows: str, header: str = "item,niqe,ssim") -> Callable[[Path], Path]:
    return _file("metrics.csv", f"{header}\n{rows}\n")


def _parquet(columns: dict[str, list[object]], name: str = "votes.parquet") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        pl.DataFrame(columns).write_parquet(folder / name)
        return folder / name

    return make


def _workbook(rows: list[list[object]], name: str = "ratings.xlsx") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        import openpyxl

        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(folder / name)
        return folder / name

    return make


def _folder(folder: Path) -> Path:
    (folder / "votes.csv").mkdir()
    return folder / "votes.csv"


def _missing(folder: Path) -> Path:
    return folder / "votes.csv"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "votes.csv")
    return folder / "votes.csv"


def _zip(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "votes.csv", "w") as archive:
        archive.writestr("votes.csv", "left,right,choice\na,b,left\n")
    return folder / "votes.csv"


_GOOD = "participant,left,right,choice\np,a,b,left\n"
_DAY = datetime.date(2024, 3, 4)
_MANY = "\n".join(f"p{k},i,{k}x" for k in range(2000))

BROKEN: list[Broken] = [
    # the file itself
    Broken("no such file", _missing, r"no file '.*votes\.csv'", error="NotFound"),
    Broken("a folder", _folder, r"is a folder, not a table", error="NotFound"),
    Broken("a pipe", _pipe, r"is not a regular file", error="BadInput"),
    Broken("zero bytes", _file("votes.csv", b""), r"^votes\.csv: the file is empty"),
    Broken("blank lines only", _file("votes.csv", "\n \n\n"), r"^votes\.csv: the file is blank"),
    Broken("a mark and nothing", _file("votes.csv", b"\xef\xbb\xbf"), r"the file is blank"),
    Broken("a header alone", _votes(""), r"^votes\.csv: a header and no rows"),
    Broken(
        "an unknown ending", _file("votes.json", "{}"), r"votes\.json: no table format '\.json'", error="UnknownName"
    ),
    Broken(
        "a packed ending", _file("votes.csv.gz", gzip.compress(b"a")), r"no table format '\.gz'", error="UnknownName"
    ),
    Broken("gzip named csv", _file("votes.csv", gzip.compress(_GOOD.encode())), r"gzip-compressed"),
    Broken("zip named csv", _zip, r"a zip archive or a workbook"),
    Broken("a picture", _file("votes.csv", b"\x89PNG\r\n\x1a\n" + b"\0" * 90), r"but a picture"),
    Broken("zero bytes inside", _votes("p,a,b\0,left"), r"holds zero bytes"),
    Broken("a far zero byte", _votes("p,a,b,left\n" * 40000 + "p,a\0,b,left"), r"row 40002: holds a zero"),
    Broken(
        "Latin-1 cells",
        _file("votes.csv", _GOOD.encode() + b"p,a,\xe9,left\n"),
        r"^votes\.csv, row 3: column 'right' is not valid UTF-8",
    ),
    Broken("one endless line", _file("votes.csv", b"a" * 3_000_000), r"row 1: the header is longer"),
    Broken("UTF-16 without a mark", _file("votes.csv", _GOOD.encode("utf-16-le")), r"UTF-16 needs its"),
    Broken("half a UTF-16 letter", _file("votes.csv", _GOOD.encode("utf-16") + b"x"), r"not valid utf-16"),
    Broken(
        "Latin-1 header",
        _file("votes.csv", b"participant,left,right,choice,\xe9\n"),
        r"row 1: the header is not valid UTF-8",
    ),
    # rows and quotes
    Broken("a short row", _votes("p,a,b,left\np,a,b"), r"^votes\.csv: row 3: 3 cells where the header has 4$"),
    Broken("a long row", _votes("p,a,b,left,x"), r"row 2: 5 cells where the header has 4"),
    Broken("many ragged rows", _votes("p,a\n" * 99 + "p,a"), r"row 2: 2 cells.*and \d+ more$"),
    Broken(
        "an unclosed quote", _votes('p,a,b,left\np,"a,b,left\np,a,b,left'), r"row 3: a quote is opened and never closed"
    ),
    Broken("a stray quote", _votes('p,"a",b,left\np,"a" x,b,left'), r"row 3: a stray quote"),
    Broken(
        "a column twice", _votes("p,a,b,left", "participant,left,left,choice"), r"row 1: column 'left' stands twice"
    ),
    Broken("nameless columns", _votes("p,a,b,left", ",,,"), r"row 1: the header has only blank names"),
    Broken("a blank first row", _file("votes.csv", "\n" + _GOOD), r"row 1: blank; the header must be the first row"),
    Broken(
        "two separators", _file("votes.csv", "left;right,choice\na;b,left\n"), r"commas or semicolons could separate"
    ),
    # Parquet and workbooks
    Broken("text named parquet", _file("votes.parquet", _GOOD), r"^votes\.parquet: not a Parquet file"),
    Broken("half a Parquet file", _file("votes.parquet", b"PAR1" + b"\0" * 40), r"not a Parquet file"),
    Broken(
        "lists as ids",
        _parquet({"left": [["a"]], "right": ["b"], "choice": ["left"]}),
        r"column 'left' is of type List",
    ),
    Broken(
        "dates as ids",
        _parquet({"left": [_DAY], "right": ["b"], "choice": ["left"]}),
        r"column 'left' holds dates or times",
    ),
    Broken(
        "floats that lost digits", _parquet({"left": [2.0**60], "right": ["b"], "choice": ["left"]}), r"beyond 2\^53"
    ),
    Broken("text named xlsx", _file("ratings.xlsx", "item,value\n"), r"^ratings\.xlsx: not a workbook", "ratings"),
    Broken("an empty sheet", _workbook([]), r"sheet 'Sheet' is empty", "ratings"),
    Broken(
        "ids turned into dates",
        _workbook([["item", "value"], ["a", 3], [_DAY, 4]]),
        r"row 3: item '2024-03-04' is a date",
        "ratings",
    ),
    Broken(
        "values turned into dates",
        _workbook([["item", "value"], ["a", _DAY]]),
        r"row 2: value '2024-03-04' is a date",
        "ratings",
    ),
    Broken(
        "ids that lost digits",
        _workbook([["item", "value"], [12345678901234567, 3]]),
        r"more digits than a spreadsheet keeps",
        "ratings",
    ),
    Broken(
        "a column of a sheet twice",
        _workbook([["item", "item"], ["a", 3]]),
        r"row 1: column 'item' stands twice",
        "ratings",
    ),
    Broken("an error in a sheet", _workbook([["item", "value"], ["a", 3], ["b", "#N/A"]]), r"row 3: value", "ratings"),
    # which column is which
    Broken(
        "no choice",
        _votes("p,a,b", "participant,left,right"),
        r"no column for choice \(there is participant, left, right\)",
    ),
    Broken(
        "two participants",
        _votes("p,q,a,b,left", "worker,user,left,right,choice"),
        r"'worker' or 'user' could be the participant",
    ),
    Broken(
        "two pairs",
        _votes("a,b,c,d,left", "item_a,item_b,model_a,model_b,choice"),
        r"'item_a' and 'item_b' or 'model_a' and 'model_b' could be left and right",
    ),
    Broken(
        "two values",
        _ratings("p,i,3,4", "participant,item,rating,score"),
        r"'rating' or 'score' could be the value",
        "ratings",
    ),
    Broken(
        "wide without a map",
        _ratings("i,3,4,5", "item,s1,s2,s3"),
        r"no column for value.*map participant=s\*",
        "ratings",
    ),
    # answers to pairs
    Broken(
        "two conventions",
        _votes("p,a,b,left\np,a,b,left\np,a,b,A"),
        r"row 4: choice 'A' is not left/right/tie as in 2 other rows",
    ),
    Broken("an unknown answer", _votes("p,a,b,left\np,a,b,maybe"), r"row 3: choice 'maybe' is not left/right/tie"),
    Broken(
        "answers of no convention",
        _votes("p,a,b,yes\np,a,b,no"),
        r"row 2: choice 'yes' is none of left/right/tie, a/b, 1/2/0",
    ),
    Broken("zeros and ones", _votes("p,a,b,0\np,a,b,1"), r"choice holds only 0 and 1: 1 could mean left or right"),
    Broken("a winner who did not play", _votes("p,x,y,x\np,x,z,y"), r"row 3: choice 'y' is not the id of the winner"),
    Broken(
        "letters that are ids", _votes("p,a,b,a\np,b,a,a"), r"row 3: choice 'a' could be a/b or the id of the winner"
    ),
    Broken(
        "an item against itself", _votes("p,x,y,x\np,x,x,x"), r"row 3: choice names an item that stands on both sides"
    ),
    Broken("an empty answer", _votes("p,a,b,left\np,a,b,"), r"^votes\.csv: row 3: choice is empty$"),
    Broken("an empty side", _votes("p,a,b,left\np,,b,left"), r"row 3: left is empty"),
    Broken("a blank side", _votes("p,a,b,left\np,  ,b,left"), r"row 3: left is empty"),
    Broken(
        "an unknown kind",
        _votes("p,a,b,left,trap", "participant,left,right,choice,kind"),
        r"row 2: kind 'trap' is not one of main, check",
    ),
    Broken(
        "an unknown right answer",
        _votes("p,a,b,left,up", "participant,left,right,choice,expected"),
        r"row 2: expected 'up' is not one of left, right, tie",
    ),
    Broken(
        "seconds in words",
        _votes("p,a,b,left,long", "participant,left,right,choice,seconds"),
        r"row 2: seconds 'long' is not a finite number",
    ),
    Broken(
        "faults of every kind",
        _votes("p,,b,left,x\np,a,b,up,1", "participant,left,right,choice,seconds"),
        r"row 3: choice 'up'.*row 2: left is empty.*row 2: seconds 'x'",
    ),
    # ratings
    Broken(
        "a word for a value",
        _ratings("p,i,good"),
        r"^ratings\.csv: row 2: value 'good' is not a finite number$",
        "ratings",
    ),
    Broken(
        "their name for a value",
        _ratings("p,i,good", "rater,image,score"),
        r"row 2: score 'good' is not a finite number",
        "ratings",
    ),
    Broken("a number too large", _ratings("p,i,1e400"), r"row 2: value '1e400' is not a finite number", "ratings"),
    Broken("infinity", _ratings("p,i,inf"), r"row 2: value 'inf' is not a finite number", "ratings"),
    Broken("a dash", _ratings("p,i,-"), r"row 2: value '-' is not a finite number", "ratings"),
    Broken("a digit of another script", _ratings("p,i,٣"), r"row 2: value '٣' is not a finite number", "ratings"),
    Broken(
        "two decimal marks",
        _file("ratings.csv", "item;value\na;3,5\nb;3.5\n"),
        r"row 2: value '3,5' has a decimal comma where other rows have a point",
        "ratings",
    ),
    Broken(
        "thousands or decimals",
        _ratings('p,i,"1,250"'),
        r"row 2: value '1,250' has a comma that may mark decimals or thousands",
        "ratings",
    ),
    Broken("a missing value", _ratings("p,i,3\np,j,NA"), r"row 3: value is empty", "ratings"),
    Broken("a missing item", _ratings("p,,3"), r"row 2: item is empty", "ratings"),
    Broken(
        "two thousand faults",
        _ratings(_MANY),
        r"row 2: value '0x' .*; 1997 more rows where value is not a finite number$",
        "ratings",
    ),
    Broken("a cell over two lines", _ratings('p,i,"3\n4"'), r"row 2: value '3 4' is not a finite number", "ratings"),
    Broken("a cell of a thousand letters", _ratings("p,i," + "x" * 1000), r"value 'x{37}\.\.\.' is", "ratings"),
    # scores
    Broken("no scores", _scores("a,good,bad"), r"^metrics\.csv: no column holds scores", "scores"),
    Broken("no items", _scores("1,2", "niqe,ssim"), r"no column for item", "scores"),
    Broken("an item twice", _scores("a,1,2\nb,1,2\na,3,4"), r"row 4: 'a' has a score in an earlier row", "scores"),
    Broken("a broken score", _scores("a,1,2\nb,1,2\nc,x,2"), r"row 4: niqe 'x' is not a finite number", "scores"),
    Broken("an infinite score", _scores("a,1,2\nb,-inf,2"), r"row 3: niqe '-inf' is not a finite number", "scores"),
    Broken("a nameless item", _scores("a,1,2\n,1,2"), r"row 3: no item", "scores"),
]
