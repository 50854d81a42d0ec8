"""Find a plug-in by name: the built-in table, then installed entry points, then "did you mean".

Nothing is imported until it is asked for. A built-in table is a literal dict from name to "module:attribute".
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import BadInput, MissingExtra, UnknownName

__all__ = ["Catalog"]


@dataclass(frozen=True)
class Catalog:
    """The plug-ins of one group."""

    group: str
    """Entry-point group, for example 'paragone.metrics'."""
    what: str
    """What one plug-in is called in messages, for example 'metric'."""
    builtin: Mapping[str, str]
    """name -> 'module:attribute'."""

    def names(self) -> list[str]:
        """Every name, sorted; third parties' entry points among them."""
        return sorted({*self.builtin, *self._points()})

    def get(self, name: str) -> Any:
        """Return the plug-in of that name.

        Raises:
            UnknownName: nobody offers it.
            MissingExtra: its module needs a library that is not installed.
            BadInput: an entry point names something that is not there.
        """
        if name in self.builtin:  # looking through every installed package takes milliseconds
            return self._load(name, self.builtin[name])
        points = self._points()
        if name in points:
            return self._load(name, points[name])
        raise UnknownName.among(name, self.names(), self.what)

    def _points(self) -> dict[str, str]:
        return {point.name: point.value for point in importlib.metadata.entry_points(group=self.group)}

    def _load(self, name: str, address: str) -> Any:
        module, _, attribute = address.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] == "paragone":
                raise BadInput(
                    f"{self.what} '{name}' names a module that is not there: {address}", where=name
                ) from error
            extra = _EXTRAS.get(error.name.split(".")[0])
            if extra is None:
                raise BadInput(
                    f"{self.what} '{name}' needs the library {error.name}: pip install it", where=name
                ) from error
            raise MissingExtra.library(f"{self.what} '{name}'", error.name, extra) from error
        except AttributeError as error:
            raise BadInput(f"{self.what} '{name}' is not in {module}: {address}", where=name) from error


_EXTRAS = {
    "matplotlib": "report",
    "jinja2": "report",
    "skimage": "demo",
    "fastexcel": "xlsx",
    "numba": "make",
    "onnxruntime": "make",
    "accelerate": "torch",
    "safetensors": "torch",
    "sklearn": "learn",
    "timm": "torch",
    "torch": "torch",
}
