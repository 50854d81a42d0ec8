"""Methods that live elsewhere: ready results in a folder, a program, a Python callable, an image-edit service.

Each kind is a settings record, which `[method.<name>]` of a TOML file becomes by its key `kind`, and a function that
gives every cell its outcome as soon as it is known. None of them writes a picture: `land` does, after checking it.
"""

from __future__ import annotations

from .edits import HttpMethod, http_outcomes
from .folder import FolderMethod, LayoutRate, detect_layout, folder_outcomes, read_folder
from .layouts import LAYOUTS, Layout
from .method import Method
from .reading import FolderReading

__all__ = [
    "LAYOUTS",
    "FolderMethod",
    "FolderReading",
    "HttpMethod",
    "Layout",
    "LayoutRate",
    "Method",
    "detect_layout",
    "folder_outcomes",
    "http_outcomes",
    "read_folder",
]
