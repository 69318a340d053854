"""What a code host needs: the files of a first check, and one comment on a pull request that is updated."""
