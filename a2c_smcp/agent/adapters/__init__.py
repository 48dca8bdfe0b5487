"""The tools of an office for language models: names that model APIs accept, schemas, calls and results.

The modules `langchain` and `pydantic_ai` need their packages; import them separately.
"""

from a2c_smcp.agent.adapters.internal_tools import InternalTools
from a2c_smcp.agent.adapters.model_tools import ModelTools
from a2c_smcp.agent.adapters.names import NamedTool, model_name, name_tools
from a2c_smcp.agent.adapters.openai import OpenAITools
from a2c_smcp.agent.adapters.results import ResultImage, ToolAnswer
from a2c_smcp.agent.adapters.sync_model_tools import SyncModelTools
from a2c_smcp.agent.adapters.sync_openai import SyncOpenAITools

__all__ = [
    "InternalTools",
    "ModelTools",
    "NamedTool",
    "OpenAITools",
    "ResultImage",
    "SyncModelTools",
    "SyncOpenAITools",
    "ToolAnswer",
    "model_name",
    "name_tools",
]
