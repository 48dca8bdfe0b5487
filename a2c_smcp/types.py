"""The small words that every floor of the package shares."""

from typing import Final, Literal, TypeAlias, get_args

SERVER_NAME: TypeAlias = str
"""The name of an MCP server in a Computer's configuration."""

TOOL_NAME: TypeAlias = str

AttributeValue: TypeAlias = str | int | float | bool | list[str] | list[bool] | list[int] | list[float] | None
Attributes: TypeAlias = dict[str, AttributeValue]
"""A flat mapping of simple values and lists of them; anything else travels inside it as a JSON string."""

Desktop: TypeAlias = str
"""One rendered window: its URI, then a blank line and its text."""

Role: TypeAlias = Literal["computer", "agent"]

MAX_MESSAGE: Final = 4_000_000
"""The largest message, in bytes, that a Server passes on unless its operator says otherwise: what every released
client can receive. Larger replies travel in pieces (`a2c_smcp.connection.chunks`)."""

ElementCategory: TypeAlias = Literal[
    "text",
    "heading",
    "list",
    "code",
    "table",
    "pivot_table",
    "chart",
    "diagram",
    "image",
    "formula",
    "link",
    "annotation",
    "header",
    "footer",
    "separator",
    "audio",
    "video",
    "form",
    "widget",
]
"""What an element of a document page can be."""

CATEGORIES: Final[tuple[ElementCategory, ...]] = get_args(ElementCategory)
