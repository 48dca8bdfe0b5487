"""How files become documents: one module per format, found by `registry`, each offering a `FORMAT` (see `base`)."""
