"""Words by language: what questions and notes say in their own tongue."""
