"""Notebooks as pages and elements."""
