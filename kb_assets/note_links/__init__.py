"""Stage: links as written in, links resolved as Obsidian resolves them out."""
