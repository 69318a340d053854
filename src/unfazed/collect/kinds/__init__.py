"""Kinds of task, one file each; its name is the file's."""
