"""Every number that the desk shows, as pure functions of frames: no store, no web, no clock.

`numbers` makes a figure with its interval; `progress` counts who came how far and how fast; `answered` judges answers;
`shown` counts what was shown and how it is connected; `persons` has one row a participant.
"""
