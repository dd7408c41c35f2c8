"""Draft questions on a vault from its own notes, by rules and without a model."""
