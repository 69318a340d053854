"""Makes `vary/spoken/data/disfluencies.json`: how people repaired what they said, as counts of Disfl-QA's training part.

Run it with: `python tools/make_disfluencies.py ../shared/data/disfl_qa/train.json`. Disfl-QA is under CC BY 4.0.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec

from unswayed.lab.calibration.profiles import encode_rounded, fit_disfluency
from unswayed.vary.disfluencies import SHIPPED

BROKEN = "#VALUE"  # what a spreadsheet made of some rows


def main() -> None:
    rows = [row for row in json.loads(Path(sys.argv[1]).read_text("utf-8")).values() if BROKEN not in row["disfluent"]]
    rates = fit_disfluency([row["original"] for row in rows], [row["disfluent"] for row in rows])
    SHIPPED.write_bytes(msgspec.json.format(encode_rounded(rates)) + b"\n")


if __name__ == "__main__":
    main()
