"""The commands that `a2c` knows. A new noun is one file beside this one and one row here."""

from typing import Final

from a2c_smcp.cli import agent, completion, computer, digest, docs, doctor, mcp, ocr, server, token, up
from a2c_smcp.cli.command import Command

COMMANDS: Final[tuple[Command, ...]] = (
    up.COMMAND,
    doctor.COMMAND,
    agent.COMMAND,
    computer.COMMAND,
    digest.COMMAND,
    docs.COMMAND,
    mcp.COMMAND,
    ocr.COMMAND,
    server.COMMAND,
    token.COMMAND,
    completion.COMMAND,
)
