"""What `${…}` stands for besides inputs: the environment, and the folders that editors predefine. Pure.

    in every format         ${env:NAME}             empty when the variable is not set, as in VS Code
                            ${workspaceFolder} ${workspaceFolderBasename} ${userHome} ${cwd} ${pathSeparator} ${/}
    not in VS Code's        ${NAME}                 refused when the variable is not set
                            ${NAME:-default}        the default when the variable is not set

What only an editor can know (`${file}`, `${config:…}`) is refused; anything else stays as it is written, and so does
`$NAME` without braces.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath, PureWindowsPath
from typing import Final

from a2c_smcp.computer.config.loaders import ConfigFormat
from a2c_smcp.computer.config.problems import quoted

_SHELL: Final = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<dash>:-(?P<default>.*))?", re.DOTALL)
_EDITOR_ONLY: Final = re.compile(
    r"(?:config|command|extensionInstallFolder|workspaceFolder|workspaceFolderBasename):.*"
    r"|file|fileWorkspaceFolder|relativeFile|relativeFileDirname|fileBasename|fileBasenameNoExtension|fileExtname"
    r"|fileDirname|fileDirnameBasename|lineNumber|columnNumber|selectedText|execPath|defaultBuildTask",
    re.DOTALL,
)


class Unresolved(Exception):
    """Why a placeholder has no value: what is wrong, and how to mend it. Its text never holds a value."""


@dataclass(frozen=True, slots=True)
class Variables:
    """What the variables of one configuration stand for.

    Attributes:
        workspace: What `${workspaceFolder}` is.
        cwd: What `${cwd}` is.
        dialect: The format of the file, which decides what `${NAME}` means.
    """

    env: Mapping[str, str] = field(repr=False)
    workspace: PurePath
    home: PurePath
    cwd: PurePath
    dialect: ConfigFormat = "native"

    def expand(self, inner: str) -> str | None:
        """Return what `${inner}` stands for, or None when it is no variable and stays as it is.

        Raises:
            Unresolved: It is a variable without a value.
        """
        if inner.startswith("env:"):
            return self.env.get(inner.removeprefix("env:"), "")
        if (folder := self._predefined(inner)) is not None:
            return folder
        shell = _SHELL.fullmatch(inner) if self.dialect != "vscode" else None
        if shell is not None and shell["name"] in self.env:
            return self.env[shell["name"]]
        if _EDITOR_ONLY.fullmatch(inner):
            raise Unresolved(f"${{{_short(inner)}}} is known to an editor only; write what it stands for")
        if shell is None:
            return None
        if shell["dash"]:
            return shell["default"]
        name = shell["name"]
        raise Unresolved(
            f"the environment has no variable {quoted(name)}; set it, or write ${{{_short(name)}:-default}}"
        )

    def _predefined(self, inner: str) -> str | None:
        match inner:
            case "workspaceFolder":
                return str(self.workspace)
            case "workspaceFolderBasename":
                return self.workspace.name
            case "userHome":
                return str(self.home)
            case "cwd":
                return str(self.cwd)
            case "pathSeparator" | "/":
                return "\\" if isinstance(self.workspace, PureWindowsPath) else "/"
            case _:
                return None


def env_name(inner: str) -> str | None:
    """Return the environment variable that `${inner}` names, if it names one."""
    if inner.startswith("env:"):
        return inner.removeprefix("env:")
    shell = _SHELL.fullmatch(inner)
    return shell["name"] if shell else None


def workspace_of(config_file: PurePath) -> PurePath:
    """Return the workspace that a configuration file belongs to: its folder, or the one above an editor's own."""
    folder = config_file.parent
    return folder.parent if folder.name in {".vscode", ".cursor"} else folder


def _short(text: str) -> str:
    return quoted(text)[1:-1]
