"""Reading pictures of text: engines behind one Protocol (see `base`), one module each."""
