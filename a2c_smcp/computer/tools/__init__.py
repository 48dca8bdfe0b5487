"""The tools of a Computer: listing them, calling them, shaping their results, remembering the calls."""
