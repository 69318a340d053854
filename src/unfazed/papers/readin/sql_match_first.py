"""Spider's exact set match as the first version of its script had it, which older papers report."""

from __future__ import annotations

from unfazed.papers.readin.sql_match import SqlMatch


class SqlMatchFirst(SqlMatch):
    """As sql_match, but FROM is compared only where gold joins tables, so a wrong single table goes unseen."""

    name = "sql_match_first"
    rule = "first"
