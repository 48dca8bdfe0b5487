"""The tools of the pipeline: OCR at a remote service, and extraction on this machine."""
