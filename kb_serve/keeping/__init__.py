"""A home's upkeep: check every stored byte, collect what nothing needs, copy it, bring it back."""
