"""Files that people answered with: checked when they come, kept with the answer, given out again."""
