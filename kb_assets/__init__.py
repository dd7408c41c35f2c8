"""The build: one room per stage, from vault folders to a published build."""
