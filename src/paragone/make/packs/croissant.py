"""croissant.json: what a pack holds, in the vocabulary by which data sets are found and loaded.

Written as plain JSON-LD, so that the library mlcroissant is needed to read it and not to write it.

Source: MLCommons, "Croissant Format Specification", version 1.0, 2024.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["croissant"]

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_PARQUET = "application/x-parquet"


def croissant(
    facts: Mapping[str, str],
    tables: Mapping[str, tuple[str, Sequence[tuple[str, str]]]],
    sets: Mapping[str, tuple[str, str]],
) -> dict[str, Any]:
    """Return the content of croissant.json.

    Args:
        facts: name, description, license, url, version, citeAs, datePublished; empty ones are left out.
        tables: Parquet file in the pack -> its SHA-256, and (column, description) of every column; each becomes a set of
            records.
        sets: name -> pattern of files and their media type; sets of pictures become records of path and picture.
    """
    files = [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "encodingFormat": _PARQUET,
            "sha256": sha256,
        }
        for name, (sha256, _) in tables.items()
    ]
    groups = [
        {"@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": media, "includes": pattern}
        for name, (pattern, media) in sets.items()
    ]
    records = [_table(name, columns) for name, (_, columns) in tables.items()]
    records += [_pictures(name) for name, (_, media) in sets.items() if media.startswith("image/")]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **{key: value for key, value in facts.items() if value},
        "distribution": [*files, *groups],
        "recordSet": records,
    }


def _table(file: str, columns: Sequence[tuple[str, str]]) -> dict[str, Any]:
    name = file.removesuffix(".parquet")
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "description": description,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
        }
        for column, description in columns
    ]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _pictures(name: str) -> dict[str, Any]:
    kinds = (("path", "sc:Text", "fullpath"), ("picture", "sc:ImageObject", "content"))
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}-records/{field}",
            "name": field,
            "dataType": kind,
            "source": {"fileSet": {"@id": name}, "extract": {"fileProperty": part}},
        }
        for field, kind, part in kinds
    ]
    return {"@type": "cr:RecordSet", "@id": f"{name}-records", "name": f"{name}-records", "field": fields}
