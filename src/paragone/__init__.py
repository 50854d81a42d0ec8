"""paragone: ask people how good generated pictures look, measure them by machine, and compare the two honestly."""

__version__ = "0.1.0"
