"""Stage extractions: what each chunk says in structured form."""
