"""Question time: from a question to ranked, dated passages. Never imports Dagster."""
