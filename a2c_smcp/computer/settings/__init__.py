"""The configuration of a running Computer: watched, compared, changed, saved."""

from a2c_smcp.computer.settings.diff import Changes, diff, servers_using
from a2c_smcp.computer.settings.holder import Apply, Outcome, Report, Settings
from a2c_smcp.computer.settings.watching import ConfigFile

__all__ = ["Apply", "Changes", "ConfigFile", "Outcome", "Report", "Settings", "diff", "servers_using"]
