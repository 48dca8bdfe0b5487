"""The tools of a Computer: listing, naming, calling, consent, shaping of results, and the record of calls."""
