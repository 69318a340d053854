"""What stays on disk: suites, answers, judgements, locks; and files from outside. No other folder knows our formats."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "storage.files": "Lock write_atomically write_json_lines",
        "storage.judgements": "Judgement read_judgements write_judgements",
        "storage.parquet": "read_batches",
        "storage.answers": "AnswerStore",
        "storage.untrusted_files": "packaged_folder read_json_lines",
        "storage.suite": "Manifest Suite plan_id write_suite",
    },
)
