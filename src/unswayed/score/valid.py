"""Valid: the share of answers that are JSON, and that fit a JSON schema."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from unswayed.base.errors import UsageError, import_extra
from unswayed.base.ids import canonical, content_id
from unswayed.base.reply import json_within
from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._scorer import MeanScorer
from unswayed.storage.untrusted_files import read_bounded

_NO_JSON = object()


class Valid(MeanScorer):
    """`valid@answer.schema.json` checks each answer with the schema in that file, and not with the gold; `valid` alone
    asks for JSON.

    An answer may be JSON in a text, with or without a fence or words around it. A schema may refer to parts of itself,
    and to no other address: nothing is fetched.
    """

    name = "valid"
    takes: ClassVar[str] = "a file with a JSON schema, as in valid@answer.schema.json"
    _schema: Any = True  # which all JSON fits

    def __init__(self, file: str = "") -> None:
        self._file = file
        if not file:
            return
        jsonschema = import_extra("jsonschema", "A JSON schema", "schema")
        referencing = import_extra("referencing", "A JSON schema", "schema")
        try:
            self._schema = msgspec.json.decode(read_bounded(Path(file)))
            checks = jsonschema.validators.validator_for(self._schema, default=jsonschema.Draft202012Validator)
            checks.check_schema(self._schema)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, jsonschema.SchemaError) as error:
            told = getattr(error, "message", None) or error
            raise UsageError(f"{file} is not a JSON schema that can be read: {told!s:.300}.") from error
        self._checks = checks(self._schema, registry=referencing.Registry())
        self._unresolved: type[Exception] = referencing.exceptions.Unresolvable
        self.name = f"valid@{file}"  # type: ignore[misc]

    @property
    def decides(self) -> str | None:
        return content_id(self._schema)

    def key(self, value: Json, task: Task) -> Hashable:
        return None if value is None else canonical(value)

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        return ()  # of no output, so that each is checked

    def item(self, output: Json, gold: Json, task: Task) -> float:
        found = json_within(output, _NO_JSON) if isinstance(output, str) else output
        if found is _NO_JSON or self._schema is True:
            return float(found is not _NO_JSON)
        try:
            return float(self._checks.is_valid(found))
        except self._unresolved as error:
            raise UsageError(
                f"{self._file} refers to another address, which is not fetched: {error!s:.200}."
            ) from error
        except RecursionError as error:
            raise UsageError(f"{self._file} refers to itself without end.") from error
