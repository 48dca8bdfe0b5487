"""The configuration of a Computer: models, file formats, the diff of two versions, editing, watching and saving."""

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
