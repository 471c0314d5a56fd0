"""Bulk data: uploads, aggregates and models, kept under relative names and read by reference.

`store` says what every store promises; `files` and `memory` are the implementations; `registry`
finds one by the scheme of a URL. Whoever keeps blobs holds a store and names. Whoever only reads
holds a `BlobRef`, which a worker process can open on its own.
"""
