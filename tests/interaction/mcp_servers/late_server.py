"""A program that becomes another one later: `python late_server.py FIFO COMMAND...` waits for somebody to open FIFO."""

import os
import sys
from pathlib import Path

Path(sys.argv[1]).read_bytes()
os.execv(sys.argv[2], sys.argv[2:])
