"""The tools of an office for language models: names that models take, schemas, calls and answers.

`langchain` and `pydantic_ai` beside this need their packages and are imported by themselves.
"""

from a2c_smcp.agent.adapters.internal import InternalTools
from a2c_smcp.agent.adapters.names import NamedTool, model_name, name_tools
from a2c_smcp.agent.adapters.openai import OpenAITools
from a2c_smcp.agent.adapters.results import Answer, Picture
from a2c_smcp.agent.adapters.sync_openai import SyncOpenAITools
from a2c_smcp.agent.adapters.sync_toolbox import SyncToolBox
from a2c_smcp.agent.adapters.toolbox import ToolBox

__all__ = [
    "Answer",
    "InternalTools",
    "NamedTool",
    "OpenAITools",
    "Picture",
    "SyncOpenAITools",
    "SyncToolBox",
    "ToolBox",
    "model_name",
    "name_tools",
]
