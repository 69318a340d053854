"""The values that travel through unfazed, and the few rules that hold everywhere: ids, seeds, names, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.core.asking import Asking, ask
    from unfazed.core.edits import Edit, OneEach, slots_of
    from unfazed.core.edits import apply as apply_edits
    from unfazed.core.errors import (
        DataError,
        MissingExtra,
        NothingEvaluated,
        StoredFileError,
        SystemBroken,
        UnfazedError,
        UnknownName,
        UsageError,
    )
    from unfazed.core.errors import nearest as nearest_name
    from unfazed.core.errors import option as option_name
    from unfazed.core.files import write_atomically, write_json_lines
    from unfazed.core.identify import identify_row
    from unfazed.core.identify import installed as identifier_installed
    from unfazed.core.ids import canonical, content_id, file_hash
    from unfazed.core.json import decode as decode_json
    from unfazed.core.json import read_json_lines
    from unfazed.core.judgement import Judgement, read_judgements, write_judgements
    from unfazed.core.locks import Lock
    from unfazed.core.packaged import packaged_folder
    from unfazed.core.parquet import read_batches
    from unfazed.core.progress import Progress
    from unfazed.core.registry import VERSION, Registry
    from unfazed.core.seeds import Seeds, Stream
    from unfazed.core.store import AnswerStore
    from unfazed.core.suite import Manifest, Suite, plan_id, write_suite
    from unfazed.core.task import Task, guess_task, task_named
    from unfazed.core.trust import require_trust
    from unfazed.core.values import Estimate, Example, Inputs, Json, Output, Variant

__all__ = ["VERSION", "AnswerStore", "Asking", "DataError", "Edit", "Estimate", "Example", "Inputs",
    "Json", "Judgement", "Lock", "Manifest", "MissingExtra", "NothingEvaluated", "OneEach", "Output", "Progress",
    "Registry", "Seeds", "StoredFileError", "Stream", "Suite", "SystemBroken", "Task", "UnfazedError",
    "UnknownName", "UsageError", "Variant", "apply_edits", "ask", "canonical", "content_id",
    "decode_json", "file_hash", "guess_task", "identifier_installed", "identify_row", "nearest_name",
    "option_name", "packaged_folder", "plan_id", "read_batches", "read_json_lines", "read_judgements", "require_trust",
    "slots_of", "task_named", "write_atomically", "write_json_lines", "write_judgements", "write_suite"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
