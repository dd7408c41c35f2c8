"""Stage: note versions in, parsed notes out."""
