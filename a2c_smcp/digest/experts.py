"""The experts of the pipeline by their names."""

from a2c_smcp.digest.installer import AutoInstallerExpert
from a2c_smcp.digest.intents import IntentExpert
from a2c_smcp.digest.orchestrator import OrchestratorExpert
from a2c_smcp.digest.output_assembler import OutputAssemblerExpert

__all__ = ["AutoInstallerExpert", "IntentExpert", "OrchestratorExpert", "OutputAssemblerExpert"]
