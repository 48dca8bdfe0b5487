"""Workbooks: rows as a stream, values by their formats, regions of a sheet as tables."""
