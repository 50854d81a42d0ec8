"""Statistics of arrays: no names, no tables, no files.

`graph` and `spectrum` say what a vote graph determines, `stationary` and `laplacian` solve on it; `kappa` and `icc` measure
consistency; `correlation`, `logistic` (on `sigmoid`), `cubic`, `discrimination` and `dependent` measure and test agreement;
`resample` and `holm` give intervals, ranks and adjusted p-values; `statistic` is the record that most of them return.
"""
