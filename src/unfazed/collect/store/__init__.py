"""Where a study is kept: one Store, over SQLite or PostgreSQL, whose writes are durable once they return."""

from unfazed.collect.store._store import Database, Store, Transaction, open_store

__all__ = ["Database", "Store", "Transaction", "open_store"]
