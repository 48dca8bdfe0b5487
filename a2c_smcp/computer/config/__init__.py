"""The configuration of a running Computer: watched, compared, changed, saved."""

from a2c_smcp.computer.config.config_file import ConfigFile
from a2c_smcp.computer.config.diff import ConfigDiff, diff_configs, servers_using
from a2c_smcp.computer.config.live_config import ApplyConfig, EditResult, LiveConfig, ReportProblem

__all__ = [
    "ApplyConfig",
    "ConfigDiff",
    "ConfigFile",
    "EditResult",
    "LiveConfig",
    "ReportProblem",
    "diff_configs",
    "servers_using",
]
