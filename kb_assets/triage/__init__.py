"""Stage triage: which saved conversations hold what belongs into knowledge."""
