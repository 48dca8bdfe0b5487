"""Languages and the parts of their programs."""
