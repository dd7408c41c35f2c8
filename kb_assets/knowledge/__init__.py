"""Stage knowledge: links and claims, put together over the vault."""
