"""The values that travel through unswayed, and the few rules that hold everywhere: ids, seeds, names, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door

if TYPE_CHECKING:
    from unswayed.core.asking import Asking, ask
    from unswayed.core.edits import Edit, OneEach, slots_of
    from unswayed.core.edits import apply as apply_edits
    from unswayed.core.errors import (
        DataError,
        MissingExtra,
        NothingEvaluated,
        StoredFileError,
        SystemBroken,
        UnknownName,
        UnswayedError,
        UsageError,
    )
    from unswayed.core.errors import nearest as nearest_name
    from unswayed.core.errors import option as option_name
    from unswayed.core.files import write_atomically, write_json_lines
    from unswayed.core.identify import identify_row
    from unswayed.core.identify import installed as identifier_installed
    from unswayed.core.ids import canonical, content_id, file_hash
    from unswayed.core.json import decode as decode_json
    from unswayed.core.json import read_json_lines
    from unswayed.core.judgement import Judgement, read_judgements, write_judgements
    from unswayed.core.locks import Lock
    from unswayed.core.packaged import packaged_folder
    from unswayed.core.parquet import read_batches
    from unswayed.core.progress import Progress
    from unswayed.core.registry import VERSION, Registry
    from unswayed.core.seeds import Seeds, Stream
    from unswayed.core.store import AnswerStore
    from unswayed.core.suite import Manifest, Suite, plan_id, write_suite
    from unswayed.core.task import Task, guess_task, task_named
    from unswayed.core.trust import require_trust
    from unswayed.core.values import Estimate, Example, Inputs, Json, Output, Variant

__all__ = [
    "VERSION",
    "AnswerStore",
    "Asking",
    "DataError",
    "Edit",
    "Estimate",
    "Example",
    "Inputs",
    "Json",
    "Judgement",
    "Lock",
    "Manifest",
    "MissingExtra",
    "NothingEvaluated",
    "OneEach",
    "Output",
    "Progress",
    "Registry",
    "Seeds",
    "StoredFileError",
    "Stream",
    "Suite",
    "SystemBroken",
    "Task",
    "UnknownName",
    "UnswayedError",
    "UsageError",
    "Variant",
    "apply_edits",
    "ask",
    "canonical",
    "content_id",
    "decode_json",
    "file_hash",
    "guess_task",
    "identifier_installed",
    "identify_row",
    "nearest_name",
    "option_name",
    "packaged_folder",
    "plan_id",
    "read_batches",
    "read_json_lines",
    "read_judgements",
    "require_trust",
    "slots_of",
    "task_named",
    "write_atomically",
    "write_json_lines",
    "write_judgements",
    "write_suite",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
