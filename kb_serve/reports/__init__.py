"""Reports on the present notes: what their links, names and texts say about the vault's upkeep."""
