"""How far a learner can be trusted: whole levels held out, beside metrics and floors, with intervals and tests."""
