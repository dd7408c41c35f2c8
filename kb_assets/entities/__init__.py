"""Stage entities: who and what the vault speaks of."""
