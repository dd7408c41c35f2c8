"""The doors: the kb command and the Dagster page."""
