"""The libraries that a run needs: found, or installed where the user allows it."""

import importlib
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from a2c_smcp.common.child_python import FOLDER
from a2c_smcp.common.extras import install_hint
from a2c_smcp.digest.framework_protocol import Params, Response, respond
from a2c_smcp.errors import BadRequest, Forbidden, InternalError

ALLOWED: Final[Mapping[str, str]] = {
    "httpx": "httpx",
    "isal": "isal",
    "lxml": "lxml",
    "markdown-it-py": "markdown_it",
    "onnxruntime": "onnxruntime",
    "pathspec": "pathspec",
    "pillow": "PIL",
    "pypdfium2": "pypdfium2",
    "python-calamine": "python_calamine",
    "rapidocr": "rapidocr",
    "selectolax": "selectolax",
}
"""What may be installed, with the module by which it is known to be there. Nothing else ever is."""

NEEDED: Final = ("pypdfium2", "isal", "lxml", "markdown-it-py")
INSTALL_SECONDS: Final = 600

Confirm: TypeAlias = Callable[[Sequence[str]], bool]
"""Asks the user whether these packages may be installed."""


class AutoInstallerExpert:
    """Checks packages against the allow-list, and installs what is missing into the running environment.

    Args:
        confirm: Asks the user where `allow_install` is not given; without it nothing is installed then.
    """

    def __init__(self, confirm: Confirm | None = None) -> None:
        self._confirm = confirm

    def ensure(self, params: Params) -> Response:
        """Return `installed`: each of `packages` with "ok", "installed", "missing" or "failed"."""
        return respond(params, self._ensure)

    def _ensure(self, params: dict[str, Any], _: str) -> dict[str, Any]:
        wanted = params.get("packages")
        if wanted is None:
            wanted = NEEDED
        if not isinstance(wanted, list | tuple) or not all(isinstance(name, str) for name in wanted):
            raise BadRequest("The parameter 'packages' must be a list of names")
        names = list(dict.fromkeys(_normal(name) for name in wanted))
        if strange := [name for name in names if name not in ALLOWED]:
            raise Forbidden(
                f"Not on the list of packages that may be installed: {', '.join(strange)}",
                details={"allowed": sorted(ALLOWED)},
            )
        missing = [name for name in names if not _is_there(name)]
        states = {name: "missing" if name in missing else "ok" for name in names}
        if missing and self._may_install(params, missing):
            _install(missing, str(params.get("installer") or ""))
            importlib.invalidate_caches()
            states |= {name: "installed" if _is_there(name) else "failed" for name in missing}
        lacking = [name for name, state in states.items() if state in ("missing", "failed")]
        installed = [[name, state] for name, state in states.items()]
        if lacking:
            how = f"{install_hint('digest,ocr')}, or allow it with --install"
            raise InternalError(f"Not installed: {', '.join(lacking)} ({how})", details={"installed": installed})
        return {"installed": installed}

    def _may_install(self, params: Params, missing: Sequence[str]) -> bool:
        allowed = params.get("allow_install")
        if isinstance(allowed, bool):
            return allowed
        return self._confirm(missing) if self._confirm is not None else False


def command_for(names: Sequence[str], installer: str = "") -> list[str]:
    """Return the command that installs packages, at the versions this project asks for, into this environment.

    Raises:
        BadRequest: There is no such installer here.
    """
    wanted = [_requirement(name) for name in names]
    has_pip, uv = importlib.util.find_spec("pip") is not None, shutil.which("uv")
    if installer in ("", "pip") and has_pip:
        return [sys.executable, "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    if installer in ("", "uv") and uv:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable, *wanted]
    raise BadRequest(f"There is no {installer or 'pip or uv'} in this environment to install with")


def _install(names: Sequence[str], installer: str) -> None:
    command = command_for(names, installer)
    try:
        done = subprocess.run(  # noqa: S603 - names of the allow-list
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            cwd=FOLDER,  # installers read settings such as uv.toml in the current folder
        )
    except subprocess.TimeoutExpired:
        raise InternalError(f"Installing took longer than {INSTALL_SECONDS} seconds") from None
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        installed = [[name, "failed"] for name in names]
        raise InternalError(
            f"Installing failed: {lines[-1] if lines else 'no output'}", details={"installed": installed}
        )


def _requirement(name: str) -> str:
    """Return a package with the versions that this project declares for it; a bare checkout declares none."""
    try:
        declared = importlib.metadata.requires("a2c-smcp") or ()
    except importlib.metadata.PackageNotFoundError:
        declared = ()
    for line in declared:
        match = re.match(r"([A-Za-z0-9._-]+)\s*([^;\[]*)", line)
        if match and _normal(match[1]) == name:
            return name + match[2].strip()
    return name


def _is_there(name: str) -> bool:
    return importlib.util.find_spec(ALLOWED[name]) is not None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
