"""Writes the reference page of the command table to standard output: `python -m a2c_smcp.cli.reference`."""

import sys

from a2c_smcp.cli.help_text import reference
from a2c_smcp.cli.table import COMMANDS

if __name__ == "__main__":
    sys.stdout.write(reference(COMMANDS))
