"""Pictures become Scores, by machine.

`measure` is the one loop: it decodes each picture once, hands it to every metric and gives each item a score or a
status that says why there is none. A metric is a function of pictures and one `Metric` record that says everything
about it; one file per family. To add one, write such a file and add its line to the table below. `from_files` makes a
benchmark of bare pictures, and `describe` says what a metric is in words for machines.
"""

from __future__ import annotations

from ..catalog import Catalog
from .describe import describe
from .files import Listed, from_files
from .measuring import measure
from .worker import STATUSES

__all__ = ["METRICS", "STATUSES", "Listed", "describe", "from_files", "measure"]

METRICS = Catalog(
    "paragone.metrics",
    "metric",
    {
        "blur": "paragone.metrics.attributes:BLUR",
        "colour-histogram": "paragone.metrics.colour:COLOUR_HISTOGRAM",
        "colour-transport": "paragone.metrics.colour:COLOUR_TRANSPORT",
        "colourfulness": "paragone.metrics.attributes:COLOURFULNESS",
        "contrast": "paragone.metrics.attributes:CONTRAST",
        "light": "paragone.metrics.attributes:LIGHT",
        "mse": "paragone.metrics.fidelity:MSE",
        "psnr": "paragone.metrics.fidelity:PSNR",
        "psnr-y": "paragone.metrics.fidelity:PSNR_Y",
        "si": "paragone.metrics.attributes:SI",
        "ssim": "paragone.metrics.fidelity:SSIM",
        "ssim-uniform": "paragone.metrics.fidelity:SSIM_UNIFORM",
        "ssim-y": "paragone.metrics.fidelity:SSIM_Y",
    },
)
