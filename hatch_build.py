"""How the optional C extension gets into a build: hatchling runs this for wheels and editable installs.

The extension makes reading PDF faster and nothing else, so whatever stands in its way is told in one line and the
package is built without it. An editable install gets the module beside the Python that imports it; a wheel carries it
and leaves the checkout as it was.

No build library is needed: one call of the compiler that Python itself names does all of it. Where Python names none
(Windows), the package is pure.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig

SOURCES: Final = Path("a2c_smcp", "documents", "pdf", "c")
MODULE: Final = SOURCES.with_name("_native")
PURE: Final = "A2C_PURE_PYTHON"
"""The variable that asks for a build without the extension, whatever its value."""


HARDENING: Final = (
    *("-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"),
    *(("-Wl,-z,relro,-z,now", "-Wl,-z,noexecstack") if sys.platform == "linux" else ()),
)
"""The module reads hostile files: an overflow ends it, and what the linker has bound cannot be written again."""


class Unavailable(Exception):
    """The extension cannot be built here; the message says for want of what."""


class ExtensionHook(BuildHookInterface[WheelBuilderConfig]):
    """Compiles the extension before a wheel is packed."""

    _folder: TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the extension, and name it to the builder of a wheel that others install."""
        module = MODULE.with_suffix(sysconfig.get_config_var("EXT_SUFFIX"))
        if version == "editable":
            target = Path(self.root, module)
            # Before anything can fail: a module of another source would be taken for this one's.
            target.unlink(missing_ok=True)
        else:
            self._folder = TemporaryDirectory()
            target = Path(self._folder.name, module.name)
        try:
            _compile(Path(self.root, SOURCES), target)
        except Unavailable as error:
            self.app.display_warning(
                f"The C extension is left out: {error}. The package works without it, only reading PDF is slower."
            )
            return
        if version != "editable":
            build_data["force_include"][str(target)] = module.as_posix()
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what a wheel was packed from."""
        if self._folder is not None:
            self._folder.cleanup()


def _compile(folder: Path, module: Path) -> None:
    if os.environ.get(PURE):
        raise Unavailable(f"{PURE} is set")
    sources = sorted(folder.glob("*.c"))
    if not sources:
        raise Unavailable(f"there is no source in {SOURCES.as_posix()}")
    words = _command(sources, module)
    # What the compiler says goes where the build's own words go.
    done = subprocess.run(words, stdin=subprocess.DEVNULL, check=False)
    if done.returncode or not module.is_file():
        raise Unavailable(f"{words[0]} did not compile it")


def _command(sources: list[Path], module: Path) -> list[str]:
    """Return the words that compile and link in one step, with the options that Python itself was built with."""
    named, linking = sysconfig.get_config_vars("CC", "LDSHARED")
    if not named or not linking:
        raise Unavailable("this Python names no C compiler")
    compiler = shlex.split(os.environ.get("CC") or named)
    if shutil.which(compiler[0]) is None:
        raise Unavailable(f"there is no C compiler {compiler[0]} (on Debian: apt-get install gcc libc6-dev)")
    include = sysconfig.get_path("include")
    if not Path(include, "Python.h").is_file():
        raise Unavailable(f"there is no Python.h in {include} (on Debian: apt-get install python3-dev)")
    return [
        *compiler,
        *_options("CFLAGS"),
        *_options("CCSHARED"),
        *shlex.split(linking.removeprefix(named)),
        *("-O2", "-g0", "-Wall", "-Wextra", "-fvisibility=hidden", "-ffp-contract=off"),
        *HARDENING,
        *shlex.split(os.environ.get("CFLAGS", "")),
        f"-I{include}",
        f'-DA2C_SOURCE="{_digest(sources[0].parent)}"',
        *("-o", str(module), *map(str, sources)),
        *shlex.split(os.environ.get("LDFLAGS", "")),
    ]


def _digest(folder: Path) -> str:
    """Return what tells one source from another; `native.py` compares it, so that no older module is taken."""
    whole = hashlib.sha256()
    for path in sorted(folder.glob("*.[ch]")):
        whole.update(path.read_bytes())
    return whole.hexdigest()


def _options(name: str) -> list[str]:
    return shlex.split(sysconfig.get_config_var(name) or "")
