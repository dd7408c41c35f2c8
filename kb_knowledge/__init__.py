"""What a set of chunks says, as pure functions: entities, links, claims. No store, no network."""
