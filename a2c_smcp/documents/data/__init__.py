"""Structured data as pages and elements."""
