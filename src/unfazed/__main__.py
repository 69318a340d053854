"""`python -m unfazed`."""

from unfazed.cli import main

main()
