"""Networks that are tuned whole on people's scores of single pictures: no reference is looked at.

`tune` takes pictures, scores and groups and gives a `Tuned`, which predicts, saves and loads; `NETWORKS` names the
architectures (ResNet50, StairIQA, MGQA of AGIQA-1K, a tiny one for the CPU, and any of timm as 'timm:NAME'),
`TunedSettings` says how (defaults: AGIQA-1K's protocol). `crossval_tuned` repeats it on splits by whole groups and
judges what was held out. They are for GPUs: torch is imported when a network is built, not before.
"""

from __future__ import annotations

from .architecture import NETWORKS, Architecture
from .repeats import TunedCrossval, crossval_tuned
from .settings import TunedSettings
from .tuned import Tuned, tune

__all__ = ["NETWORKS", "Architecture", "Tuned", "TunedCrossval", "TunedSettings", "crossval_tuned", "tune"]
