"""The values that travel through unswayed, and the few rules that hold everywhere: ids, seeds, names, errors."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base.edits": "Edit OneEach apply=apply_edits slots_of",
        "base.errors": (
            "DataError MissingExtra NothingEvaluated StoredFileError SystemBroken UnknownName UnswayedError "
            "UsageError nearest=nearest_name option=option_name"
        ),
        "base.language": "identifier_installed identify_row",
        "base.ids": "canonical content_id decode=decode_json file_hash",
        "base.progress": "Progress",
        "base.registry": "Registry VERSION",
        "base.seeds": "Seeds Stream Streams",
        "base.task": "Task guess_task task_named",
        "base.values": "Estimate Example Inputs Json Output Variant",
    },
)
