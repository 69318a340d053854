"""`python -m unswayed`."""

from unswayed.cli import main

main()
