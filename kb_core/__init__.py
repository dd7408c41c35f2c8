"""What every other package agrees on: names, ids, table contracts, settings and errors."""
