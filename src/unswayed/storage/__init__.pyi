from unswayed.storage.answers import AnswerStore
from unswayed.storage.files import Lock, write_atomically, write_json_lines
from unswayed.storage.judgements import Judgement, read_judgements, write_judgements
from unswayed.storage.parquet import read_batches
from unswayed.storage.suite import Manifest, Suite, plan_id, write_suite
from unswayed.storage.untrusted_files import packaged_folder, read_json_lines

__all__ = [
    "AnswerStore",
    "Judgement",
    "Lock",
    "Manifest",
    "Suite",
    "packaged_folder",
    "plan_id",
    "read_batches",
    "read_json_lines",
    "read_judgements",
    "write_atomically",
    "write_json_lines",
    "write_judgements",
    "write_suite",
]
