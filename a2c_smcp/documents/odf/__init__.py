"""OpenDocument spreadsheets, read from the parts of their archives."""
