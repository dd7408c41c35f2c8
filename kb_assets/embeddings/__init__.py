"""Stage: passages in, vectors out."""
