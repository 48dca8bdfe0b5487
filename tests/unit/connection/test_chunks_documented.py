"""The page on large messages says what the code does."""

import re
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.computer.office import transfers
from a2c_smcp.connection.chunks import LARGE, MAX_REPLY, PIECE, WINDOW, ChunkedReply
from a2c_smcp.smcp import MAX_MESSAGE

PAGE = (Path(__file__).parents[3] / "docs/explanation/large-messages.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "figure",
    [
        f"at most {MAX_MESSAGE:_} bytes (`MAX_MESSAGE`)".replace("_", " ", 2),
        f"more than {LARGE // 1024} KiB (`LARGE`)",
        f"at most {PIECE // 1024} KiB (`PIECE`)",
        f"at most {transfers.MAX_TRANSFERS} replies and {MAX_REPLY // 1024**2} MiB together",
        f"each for {transfers.SECONDS:g} seconds",
        {2: "asks for two pieces at a time"}[WINDOW],
    ],
)
def test_the_figures_of_the_page_are_those_of_the_code(figure: str) -> None:
    assert figure in PAGE


async def test_the_example_of_the_page_runs() -> None:
    reply = {"contents": [{"text": "财" * 5000}], "req_id": "r"}
    parcel = ChunkedReply(FastJson.encode(reply), 4096)

    async def call(event: str, **fields: Any) -> Any:
        if event == "client:get_chunk":
            return {"data": parcel.piece(fields["index"]), "index": fields["index"], "req_id": "p"}
        return {"chunked": parcel.announce("t"), "req_id": "r"}

    names: dict[str, Any] = {}
    exec(compile(PYTHON[0], "large-messages.md", "exec"), names)
    assert await names["read"](call, "dpe://docs/report") == reply
