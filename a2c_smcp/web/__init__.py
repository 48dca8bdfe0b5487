"""HTTP for every role that listens."""
