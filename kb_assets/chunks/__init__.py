"""Stage: notes in, passages with written dates out."""
