"""Everything that comes into the package from outside: any table, and known public layouts by name.

`read_votes`, `read_ratings` and `read_scores` read anybody's table and say in notes what they recognised.
`import_source` reads a known layout, named or recognised by its columns and ids, into nouns; one file per layout holds
a `Source` record, and `SOURCES` finds it by name.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from ..catalog import Catalog
from ..errors import BadInput, NotFound, UnknownName
from .bare import read_ratings, read_votes
from .bare_scores import read_scores
from .records import Imported, Reading, Source

__all__ = [
    "SOURCES",
    "Imported",
    "Reading",
    "Source",
    "import_source",
    "read_ratings",
    "read_scores",
    "read_votes",
    "recognise",
]

SOURCES = Catalog(
    "paragone.sources",
    "source",
    {
        "agiqa1k": "paragone.sources.agiqa1k:SOURCE",
        "agiqa3k": "paragone.sources.agiqa3k:SOURCE",
        "avt_ai_images": "paragone.sources.avt_ai_images:SOURCE",
        "bt500_repetitions": "paragone.sources.bt500_repetitions:SOURCE",
        "dynavect": "paragone.sources.dynavect:SOURCE",
        "evalica": "paragone.sources.evalica:SOURCE",
        "hdr_vdc": "paragone.sources.hdr_vdc:SOURCE",
        "imagenhub": "paragone.sources.imagenhub:SOURCE",
        "kitov": "paragone.sources.kitov:SOURCE",
        "krasula": "paragone.sources.krasula:SOURCE",
        "nflx_public": "paragone.sources.nflx_public:SOURCE",
        "packed": "paragone.sources.packed:SOURCE",
        "pwcmp_tmo": "paragone.sources.pwcmp_tmo:SOURCE",
        "table": "paragone.sources.table:SOURCE",
    },
)


def recognise(path: str | Path) -> str | None:
    """The name of the layout whose columns and ids are those at `path`, or None.

    Args:
        path: a file or a folder.

    Raises:
        NotFound: neither is there.
        BadInput: two layouts fit; name one of them.
    """
    path = Path(path)
    if not path.exists():
        raise NotFound.path(path, "file or folder")
    fitting = [name for name in SOURCES.names() if SOURCES.get(name).fits(path)]
    if len(fitting) > 1:
        raise BadInput(f"'{path}' could be {' or '.join(fitting)}; name the source", where=str(path))
    return fitting[0] if fitting else None


def import_source(source: str | Source | None, path: str | Path, **options: Any) -> Imported:
    """Read a known layout, or any table, into nouns.

    Args:
        source: name of a source, the record itself, or None: the layout is recognised by its columns and ids; a file
            that is none of the known ones is read as a `table`.
        path: the file or folder.
        options: keyword options of that source's `read`; `paragone list sources` names them.

    Returns:
        Benchmark, votes, ratings and scores as far as the source has them, and notes.

    Raises:
        UnknownName: no such source, or no such option of it.
        NotFound: the path, or a file in it that the layout needs.
        BadTable: a table breaks its contract; holds all faults.
        BadInput: nothing known lies in the folder.
    """
    if source is None:
        found = recognise(path)
        if found is None and Path(path).is_dir():
            known = ", ".join(name for name in SOURCES.names() if name != "table")
            raise BadInput(f"no known layout in the folder '{path}'; name a file, or one of {known}", where=str(path))
        source = found or "table"
    record: Source = SOURCES.get(source) if isinstance(source, str) else source
    known_options = [
        name for name, one in inspect.signature(record.read).parameters.items() if one.kind is one.KEYWORD_ONLY
    ]
    for option in options:
        if option not in known_options:
            raise UnknownName.among(option, known_options, f"option of source {record.name}")
    return record.read(path, **options)
