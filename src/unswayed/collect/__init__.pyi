from unswayed.collect.export import answers_of
from unswayed.collect.items import key_file, write_items
from unswayed.collect.kinds import TaskKind
from unswayed.collect.kinds.labels import Slot
from unswayed.collect.study import PeopleStudy, read_study, study_template

__all__ = ["PeopleStudy", "Slot", "TaskKind", "answers_of", "key_file", "read_study", "study_template", "write_items"]
