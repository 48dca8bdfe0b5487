"""Ratios measured within one run: `python -m benchmarks [name ...]`."""
