"""What real systems do when real people vary: published answers, measured again."""
