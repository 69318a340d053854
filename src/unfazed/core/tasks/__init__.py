"""The tasks that unfazed knows, one a file; the file's name is the task's."""
