"""How far people agree with people: with themselves on repeats, with each other on what several of them saw.

`consistency(votes)` gives Cohen's kappa on repeats, agreement between people on shared pairs and the share of left
answers; `consistency(ratings)` gives intraclass correlations, Krippendorff's alpha, split halves, repeats and
correlations between raters, and the drift along a session where places are known (`position_effect`). Both give one
row per statistic, criterion and stage.
"""

from .measure import consistency
from .position import position_effect
from .record import Consistency

__all__ = ["Consistency", "consistency", "position_effect"]
