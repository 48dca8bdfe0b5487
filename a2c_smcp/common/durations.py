"""Times as people write them. Pure."""


def seconds_text(seconds: float) -> str:
    """Return a number of seconds with as many digits as help: `30 s`, `1.5 s`, `0.02 s`."""
    digits = f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2g}"
    return f"{float(digits):g} s" if seconds < 100_000 else f"{seconds:.0f} s"
