"""The pictures that a benchmark starts from: measured, chosen by coverage, told of on cards, made ready for methods."""
