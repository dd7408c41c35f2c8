"""Words by language: how notes say in prose what is linked to what, and what is how much."""
