"""Profiles of speakers fitted to files, as the bytes of the file that `speech/mandarin` reads."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from unfazed.measure.realism.calibration import ROWS, rounded
from unfazed.measure.realism.reading import read_people
from unfazed.vary.calibrate_speech import fit
from unfazed.vary.people import Speakers


def calibrated_speakers(clean: str, real: Sequence[str], fields: Sequence[str], rows: str) -> bytes:
    """The file's content: a profile for each file of what was heard."""
    before, people = read_people(clean, real, fields)
    texts = [text for row in before.rows[ROWS[rows]] for text in row.values()]
    heard = [[text for row in person.rows[ROWS[rows]] for text in row.values()] for person in people]
    made = Speakers([fit(texts, said) for said in heard])
    return msgspec.json.encode(rounded(msgspec.to_builtins(made))) + b"\n"
