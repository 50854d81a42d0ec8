"""Statistics of arrays: no names, no tables, no files.

`graph` and `spectrum` say what a vote graph determines, `stationary` and `laplacian` solve on it; `kappa` and `icc`
measure consistency; `correlation`, `logistic` (on `sigmoid`), `cubic`, `discrimination` and `dependent` measure and
test agreement; `resample` and `holm` give intervals, ranks and adjusted p-values; `stability` says how a ranking
settles as people come, `gain` what one more comparison would tell, `sweep` takes constants out of a regression;
`statistic` is the record that most of them return.
"""
