"""Digest: a PDF becomes an illustrated Markdown digest, by a pipeline of experts that speak one small protocol."""
