"""`python -m a2c_smcp.cli` is `a2c`."""

import sys

from a2c_smcp.cli.main import main

sys.exit(main())
