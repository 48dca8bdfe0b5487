"""How to install an optional part of this package; every hint about a missing library takes its command from here.

There is no release of this project in a package index yet, and another project has its name there. So a command never
names the package: it installs from the checkout, or from the wheel that the installation came from. It names no
folder either, because hints also reach Agents.
"""

import json
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final
from urllib.parse import unquote, urlsplit

PACKAGE: Final = "a2c-smcp"


def checkout_command(extras: str = "") -> str:
    """Return the command that installs these extras (`documents`, `agent,cli`) in the folder of the checkout."""
    return f"pip install '.[{extras}]'" if extras else "pip install ."


def install_hint(extras: str = "") -> str:
    """Return the command, and where to run it: in the checkout, or beside the wheel that is installed."""
    wheel = _wheel()
    if wheel is None:
        return f"{checkout_command(extras)} in the checkout of this project"
    return f"pip install './{wheel}{f'[{extras}]' if extras else ''}' in the folder of that wheel"


def _wheel() -> str | None:
    """Return the name of the wheel that this package was installed from; None for a checkout."""
    try:
        record = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return wheel_of(record)


def wheel_of(record: str | None) -> str | None:
    """Return the name of the wheel in the record that installers keep of where a package came from (PEP 610)."""
    try:
        found = json.loads(record or "null")
        name = unquote(urlsplit(str(found["url"])).path).rpartition("/")[2]
    except (ValueError, KeyError, TypeError):
        return None
    return name if name.endswith(".whl") else None
