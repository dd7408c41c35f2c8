"""What `kb init` writes into a new home."""
