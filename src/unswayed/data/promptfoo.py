"""promptfoo's tests: a config, or a file of tests, in YAML; `vars` are the inputs, and `assert` holds the gold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unswayed.base.errors import DataError, import_extra
from unswayed.base.options import ReadOptions
from unswayed.base.values import Example, Json
from unswayed.data._reader import Reader, open_bytes

_EXACT = ("equals",)
_CONTAINS = ("contains", "icontains", "contains-any", "icontains-any")
_LOOKS_LIKE = re.compile(rb"^(tests:|\s*-\s+(vars|description|assert):)", re.M)


class PromptfooReader(Reader):
    """Each test is an example. `equals` and `contains` give the gold; a test with neither has none, for flips only.

    Texts that promptfoo would read from files, and variables with several values, are not read.
    """

    suffixes = (".yaml", ".yml")
    task = "generate"

    def accepts(self, path: Path) -> bool:
        if not super().accepts(path):
            return False
        with open_bytes(path) as file:
            return bool(_LOOKS_LIKE.search(file.read(1 << 16)))

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = path
        yaml = import_extra("yaml", "promptfoo's YAML", "yaml")
        with open_bytes(path) as file:
            try:
                found = yaml.safe_load(file)
            except (yaml.YAMLError, ValueError, RecursionError) as error:
                raise DataError(f"this is not YAML: {' '.join(str(error).split())}.", path) from error
        tests = found.get("tests") if isinstance(found, Mapping) else found
        if not isinstance(tests, list):
            raise DataError("tests must be a list in this file; tests in another file are not read.", path)
        kinds = {check.get("type") for test in tests for check in _checks_of(test)} & {*_EXACT, *_CONTAINS}
        self.equivalent = "exact" if kinds == set(_EXACT) else "contains"
        for self.line, test in enumerate(tests, 1):
            given = test.get("vars") if isinstance(test, Mapping) else None
            if not isinstance(given, Mapping) or not given:
                raise DataError(f"test {self.line} has no vars, such as {{question: …}}.", path)
            inputs = {}
            for name in options.input or [name for name in given if name not in (options.gold, *options.groups)]:
                if name not in given:
                    raise DataError(f"test {self.line} has no variable {name!r}.", path)
                value = str(given[name]) if isinstance(given[name], bool | int | float) else given[name]
                variable = f"the variable {str(name)!r} of test {self.line}"
                if not isinstance(value, str):
                    raise DataError(f"{variable} must be one text, not {value!r:.60}.", path)
                if value.startswith("file://"):
                    raise DataError(f"{variable} is in a file. Write its text in the test.", path)
                inputs[str(name)] = value
            if options.gold:
                gold = given.get(options.gold)
            else:
                known = (c.get("value") for c in _checks_of(test) if c.get("type") in (*_EXACT, *_CONTAINS))
                gold = next(known, None)
                gold = gold if isinstance(gold, str | int | float | list) else None
            groups = {name: str(given[name]) for name in options.groups if given.get(name) is not None}
            yield Example(self.line - 1, "", inputs, gold, groups)


def _checks_of(test: Json) -> list[Mapping[str, Any]]:
    checks = test.get("assert") if isinstance(test, Mapping) else None
    return [check for check in checks if isinstance(check, Mapping)] if isinstance(checks, list) else []
