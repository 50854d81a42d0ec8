"""What a metric is, in words for machines: the rows of `list metrics --json`."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

from ..errors import BadInput, MissingExtra
from ..metric import Metric

__all__ = ["available", "describe"]

_LIBRARIES = {"torch": "torch", "learn": "sklearn", "piq": "piq", "demo": "skimage", "onnx": "onnxruntime"}
"""extra -> the library whose presence shows that it is installed; an extra not listed is its own library."""


def available(metric: Metric) -> bool:
    """Whether the extra that the metric needs is installed."""
    return not metric.extra or importlib.util.find_spec(_LIBRARIES.get(metric.extra, metric.extra)) is not None


def describe(metric: str | Metric) -> dict[str, Any]:
    """Give the facts about a metric.

    Args:
        metric: a name from `METRICS`, or the record.

    Returns:
        name, summary, level, inputs, better, range ([low, high], null: unbounded), unit, definition, source, smallest
        (pixels), needs (the extra, '' for none), available, reason (why not, '' if available) and reconstruction. A
        catalogue entry that cannot be loaded has its name, available = False and the reason only.

    Raises:
        UnknownName: no metric of that name.
    """
    if isinstance(metric, str):
        from . import METRICS

        try:
            record = METRICS.get(metric)
        except MissingExtra as error:
            return {"name": metric, "needs": error.where, "available": False, "reason": error.message}
        except BadInput as error:
            return {"name": metric, "needs": "", "available": False, "reason": error.message}
    else:
        record = metric
    there = available(record)
    return {
        "name": record.name,
        "summary": record.summary,
        "level": record.level,
        "inputs": list(record.inputs),
        "better": record.better,
        "range": [None if math.isinf(end) else end for end in (record.low, record.high)],
        "unit": record.unit,
        "definition": record.definition,
        "source": record.source,
        "smallest": record.smallest,
        "needs": record.extra,
        "available": there,
        "reason": "" if there else f"pip install 'paragone[{record.extra}]'",
        "reconstruction": record.reconstruction,
    }
