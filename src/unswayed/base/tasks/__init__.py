"""The tasks that unswayed knows, one a file; the file's name is the task's."""
