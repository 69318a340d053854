from unswayed.base.edits import Edit, OneEach, apply as apply_edits, slots_of
from unswayed.base.errors import (
    DataError,
    MissingExtra,
    NothingEvaluated,
    StoredFileError,
    SystemBroken,
    UnknownName,
    UnswayedError,
    UsageError,
    nearest as nearest_name,
    option as option_name,
)
from unswayed.base.ids import canonical, content_id, decode as decode_json, file_hash
from unswayed.base.language import identifier_installed, identify_row
from unswayed.base.progress import Progress
from unswayed.base.registry import VERSION, Registry
from unswayed.base.seeds import Seeds, Stream, Streams
from unswayed.base.task import Task, guess_task, task_named
from unswayed.base.values import Estimate, Example, Inputs, Json, Output, Variant

__all__ = [
    "VERSION",
    "DataError",
    "Edit",
    "Estimate",
    "Example",
    "Inputs",
    "Json",
    "MissingExtra",
    "NothingEvaluated",
    "OneEach",
    "Output",
    "Progress",
    "Registry",
    "Seeds",
    "StoredFileError",
    "Stream",
    "Streams",
    "SystemBroken",
    "Task",
    "UnknownName",
    "UnswayedError",
    "UsageError",
    "Variant",
    "apply_edits",
    "canonical",
    "content_id",
    "decode_json",
    "file_hash",
    "guess_task",
    "identifier_installed",
    "identify_row",
    "nearest_name",
    "option_name",
    "slots_of",
    "task_named",
]
