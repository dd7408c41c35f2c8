"""Stage spending_plan: what a folder's language model has not answered yet, and its price."""
