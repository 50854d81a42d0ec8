"""Where a study keeps what happened: versions, people, leases, answers and events, on SQLite or PostgreSQL.

`Store.open(url)` gives the store; the modules `versions`, `people`, `claims`, `answers`, `events` and `export` hold the jobs
that are handed to it: `await store.write(lambda c: answers.append(c, ...))`. Jobs are the same for both databases. `keys`
derives the study's secrets, `backup` copies a store while it runs.
"""

from .store import Store

__all__ = ["Store"]
