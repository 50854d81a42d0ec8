"""The desk of those who run a study: how far it is, whether anything is wrong, whether it is enough, what it costs.

`figures` computes numbers from frames, `live` the scores and the advice to stop, `moment` reads the store, `deeds`
changes it (always with an event), `auth` knows who may, `routes` and `api` are the pages and the JSON, `charts` draws.
Nothing here is imported before a study is served.
"""
