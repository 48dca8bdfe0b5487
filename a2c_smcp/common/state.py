"""Where this project remembers things between two runs, and which of its files can be believed."""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path


def state_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Return this project's folder in the place where the system keeps the state of a user's applications."""
    user = Path.home()
    if sys.platform == "win32":
        base = Path(env.get("LOCALAPPDATA") or user / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = user / "Library" / "Application Support"
    else:
        named = env.get("XDG_STATE_HOME", "")
        base = Path(named) if Path(named).is_absolute() else user / ".local" / "state"
    return base / "a2c-smcp"


def is_private(path: Path) -> bool:
    """Whether this is a file of the user's that nobody else can read or write."""
    try:
        status = path.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return stat.S_ISREG(status.st_mode)  # on Windows the folder itself is the user's own
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
