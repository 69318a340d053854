"""The four papers as recipes over the other parts, one a file; the file's name is the study's."""

from unfazed.core.registry import Registry
from unfazed.studies._study import Option, Study

studies: Registry[Study] = Registry("study", Study, "unfazed.studies")
studies.group = "unfazed.studies"

__all__ = ["Option", "Study", "studies"]
