"""A study.toml to start from, as `paragone plan --example` prints it."""

from __future__ import annotations

__all__ = ["EXAMPLE"]

EXAMPLE = """\
# What a study asks. Write it beside benchmark.toml, then: paragone plan FOLDER
# Every key is in docs/reference.md; an unknown key is refused.

name = "my-study"
criteria = ["overall"]                       # asked in each trial; left out: those of benchmark.toml
seed = 1                                     # the same seed deals the same plan

[pages]
title = "Which picture is better overall?"   # as participants see it; also { en = "...", de = "...", zh = "..." }
languages = ["en"]                           # of en, zh, de; the first is the default

[consent]                                    # participants are asked to agree to this; nobody is asked while it is empty
who = ""                                     # who runs the study: your name and institution
contact = ""                                 # how a participant reaches you

[training]
auto = 2                                     # questions with a clear answer that must be answered right before the trials

[platform]
profile = "open"                             # whoever has the link; or prolific, connect, sona, mturk, lab, own

[[stage]]                                    # first: methods meet on the same content and style
kind = "pairs"
name = "within"
pairs = "within"
group = ["content", "style"]                 # factors (columns of items.csv) that make a group
compare = "method"                           # the factor under comparison; sides are balanced for it
participants = 24
trials = 12                                  # comparisons a participant answers, repeats among them
checks = 2                                   # trials with a known answer, beside them
checks_needed = 2                            # right answers needed to be kept
check = "auto"                               # a broken picture where `paragone new --broken` made some; else the page
                                             # says which side to choose, as it does with "instructed"
repeats = 2                                  # comparisons asked twice, for consistency
break_seconds = 0                            # rest in the middle, for longer sheets; left out: 60

[[stage]]                                    # then: pairs across groups join all pictures on one scale
kind = "pairs"
name = "across"
pairs = "across"
group = ["content", "style"]
compare = "method"
participants = 24
trials = 12
checks = 2
checks_needed = 2
check = "auto"
repeats = 2
break_seconds = 0

# Instead of pairs, or after them: one picture at a time, rated on a scale.
# [[stage]]
# kind = "ratings"
# name = "rated"
# low = 1.0
# high = 5.0
# step = 1.0                                 # 1 on a scale of 1 to 5 is ACR; 0.1 is a slider
# participants = 24
#                                            # each rates all pictures; items = 30: that many of them
# stabilising = 3                            # ratings at the start that do not count
# checks = 2
# checks_needed = 2
# check = "auto"
# repeats = 2
"""
