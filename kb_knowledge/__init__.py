"""What a set of chunks says, as pure functions: entities, links and claims. No store, no network."""
