"""Tables at the door of the package: check a frame against its contract; read and write files.

A noun owns a `Schema`; `checked` is called once, when the noun is made, and nowhere else. Files are read as text first,
so that '001' stays '001' and every fault can be named with its row. Rows are numbered as a spreadsheet shows them: the
header is row 1.

`read_table` reads what this package wrote. `open_table` reads other people's files and says in notes how it did.
"""

from __future__ import annotations

from .contract import MISSING, Column, Schema, checked, encode
from .delimited import Table, shown
from .files import FORMAT, column_names, open_table, read_table, whole_file, write_table

__all__ = [
    "FORMAT",
    "MISSING",
    "Column",
    "Schema",
    "Table",
    "checked",
    "column_names",
    "encode",
    "open_table",
    "read_table",
    "shown",
    "whole_file",
    "write_table",
]
