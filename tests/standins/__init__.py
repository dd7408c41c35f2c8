"""Loopback servers that speak the true protocol of services tests cannot reach."""
