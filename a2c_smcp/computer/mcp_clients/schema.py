"""The JSON Schema of a native configuration file, for editors and for the documentation. Pure."""

from typing import Any, Final

from a2c_smcp.computer.mcp_clients.model import ComputerConfig

SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def config_schema() -> dict[str, Any]:
    """Return the schema of the native file.

    It is a little wider than the model: a server under its key need not repeat its name, servers may also be a list,
    and `$schema` may stand at the top.
    """
    schema = ComputerConfig.model_json_schema(mode="validation")
    for definition in schema["$defs"].values():
        if "type" in definition.get("properties", {}):
            definition["required"] = ["type", *(key for key in definition.get("required", ()) if key != "name")]
    mapping = schema["properties"].pop("servers")
    server = mapping.pop("additionalProperties")
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "A2C-SMCP Computer configuration",
        "description": schema["description"],
        "type": "object",
        "additionalProperties": False,
        "required": ["servers"],
        "properties": {
            "$schema": {"type": "string", "description": "The schema of this file, for editors."},
            "servers": {
                "description": mapping["description"],
                "anyOf": [
                    {"type": "object", "additionalProperties": server},
                    {"type": "array", "items": {"allOf": [server, {"required": ["name"]}]}},
                ],
            },
            **schema["properties"],
        },
        "$defs": schema["$defs"],
    }
