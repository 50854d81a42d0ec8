"""Learned evaluators: from features and people's scores to a model that scores what people have not seen."""

from __future__ import annotations

from .task import Fitted, Learner, Predicted, Task

__all__ = ["Fitted", "Learner", "Predicted", "Task"]
