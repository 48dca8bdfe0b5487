"""How this package starts Python again: isolated, in no folder of the user's, with a small environment.

`python -c` and `python -m` import from the current folder first, and the current folder is often the one whose files
are being read. So children run with `-I` (no current folder, no `PYTHON*` variables, no user site) and get the parent's
import path as an argument, without the current folder.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import a2c_smcp

FOLDER: Final = Path(sys.executable or os.sep).anchor or os.sep
"""Where children run: the root of the file system, so that no relative name leads into a shared folder."""

BASIC: Final = (
    *("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
    *("SYSTEMROOT", "WINDIR", "SYSTEMDRIVE", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "NUMBER_OF_PROCESSORS"),
    *("OMP_NUM_THREADS", "A2C_PURE_PYTHON"),
)
"""The variables that every child gets: what the loader, the locale and the libraries need, and no secret."""

NETWORK: Final = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)
"""The variables that a child which calls services needs too."""

_SET_PATH: Final = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
_RUN_SCRIPT: Final = "import runpy; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"


def python_command(code: str, *arguments: str) -> list[str]:
    """Return the command that runs `code` in a child with the import path of this process."""
    utf8 = ["-X", "utf8"] if sys.flags.utf8_mode else []
    return [sys.executable, "-I", *utf8, "-c", _SET_PATH + code, json.dumps(import_path()), *arguments]


def script_command(script: str, *arguments: str) -> list[str]:
    """Return the command that runs a file as `__main__`, the same way."""
    return python_command(_RUN_SCRIPT, script, *arguments)


def environment(*names: str, prefixes: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables of this process that a child gets: `BASIC`, locale, heap, `names`, and by prefix."""
    wanted, begins = {*BASIC, *names}, ("LC_", "MALLOC_", *prefixes)
    return {name: value for name, value in os.environ.items() if name in wanted or name.startswith(begins)}


def python_path(value: str) -> str:
    """Return a `PYTHONPATH` that means the same in every folder, without the current one (see `import_path`)."""
    return os.pathsep.join(_trusted(os.path.abspath(entry) for entry in value.split(os.pathsep) if entry))  # noqa: PTH100


def import_path() -> list[str]:
    """Return `sys.path` without the current folder, unless this package itself was imported from there."""
    return _trusted(entry for entry in sys.path if Path(entry).is_absolute())


def _trusted(entries: Iterable[str]) -> list[str]:
    home = os.path.realpath(Path(a2c_smcp.__file__).parent.parent)
    try:
        here = os.path.realpath(Path.cwd())
    except OSError:  # it was deleted
        here = ""
    trusted = here == home
    return [entry for entry in entries if trusted or os.path.realpath(entry) != here]
