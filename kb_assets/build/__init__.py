"""Stages: one manifest over everything, and the pointer that readers follow."""
