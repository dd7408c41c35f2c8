"""The board: one page on what is read, what is pending, how good it is, and what to do now."""
