"""Values given on the command line: `--input id=value`, and files of such lines for `--input-file`."""

import logging
import stat
from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path

from a2c_smcp.computer.config import jsonc
from a2c_smcp.computer.config.field_types import json_text
from a2c_smcp.computer.config.files import read_text
from a2c_smcp.computer.config.problems import Problem, invalid, json_type, path_text
from a2c_smcp.computer.inputs.secret import Secret

log = logging.getLogger(__name__)


def parse_input_options(options: Iterable[str]) -> dict[str, Secret]:
    """Return the values of `--input id=value` options; of two for one id the later counts.

    Raises:
        InvalidConfig: One is not of that form. It is told by its number, because what it holds may be a secret.
    """
    values, problems = {}, []
    for number, option in enumerate(options, 1):
        input_id, equals, value = option.partition("=")
        if equals and input_id.strip():
            values[input_id.strip()] = Secret(value)
        else:
            problems.append(Problem(f"number {number}", "is not of the form id=value; write --input id=value"))
    if problems:
        raise invalid("--input", problems)
    return values


def read_input_file(path: str | PathLike[str]) -> dict[str, Secret]:
    """Return the values in a file: a JSON object of them, or a line `id=value` each, `#` before a comment.

    Raises:
        InvalidConfig: It cannot be read or used; no line of the error quotes the file.
    """
    text, _ = read_text(path)
    if Path(path).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        log.warning("%s can be read by other users of this machine; chmod 600 keeps it private", fspath(path))
    return _from_json(text, fspath(path)) if text.lstrip().startswith("{") else _from_lines(text, fspath(path))


def _from_json(text: str, source: str) -> dict[str, Secret]:
    try:
        data = jsonc.parse(text)
    except jsonc.SyntaxProblem as error:
        raise invalid(source, error.problems) from None
    values, problems = {}, []
    for key, item in data.items():
        value = json_text(item)
        if isinstance(value, str):
            values[key] = Secret(value)
        else:
            problems.append(Problem(path_text((key,)), f"is {json_type(item)}; it must be a text"))
    if problems:
        raise invalid(source, problems)
    return values


def _from_lines(text: str, source: str) -> dict[str, Secret]:
    values, problems = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        input_id, equals, value = line.partition("=")
        if equals and input_id.strip():
            values[input_id.strip()] = Secret(value.strip())
        else:
            problems.append(Problem(f"line {number}", "is not of the form id=value; write it so, or put # before it"))
    if problems:
        raise invalid(source, problems)
    return values
