"""One catalogue from those of several MCP servers that share a host. Pure."""

from collections.abc import Sequence

import orjson

from a2c_smcp.computer.finder.summaries import catalogue_documents, parse_json
from a2c_smcp.computer.ports import Json
from a2c_smcp.types import SERVER_NAME


def merge_catalogues(uri: str, replies: Sequence[Sequence[Json]], missing: Sequence[SERVER_NAME] = ()) -> list[Json]:
    """Return the contents of a level 0 resource from the contents that each server gave.

    JSON catalogues become one, with all documents and the sum of the counts, and with the servers that did not answer
    in `unavailable`. Texts of one kind are put one after the other; anything else stays side by side.
    """
    catalogues = [parse_json(reply) for reply in replies]
    if all(catalogue_documents(catalogue) is not None for catalogue in catalogues):
        return [_as_json(uri, catalogues, missing)]
    items = [item for reply in replies for item in reply]
    kinds = {item.get("mimeType") for item in items}
    texts = [item.get("text") for item in items]
    if len(kinds) == 1 and all(isinstance(text, str) for text in texts):
        return [{**items[0], "uri": uri, "text": "\n\n".join(map(str, texts))}]
    return items


def _as_json(uri: str, catalogues: Sequence[object], missing: Sequence[SERVER_NAME]) -> Json:
    documents: list[object] = []
    total = 0
    for catalogue in catalogues:
        some = catalogue_documents(catalogue) or []
        documents += some
        total += _total(catalogue, len(some))
    merged: Json = {"documents": documents, "total_count": total}
    if missing:
        merged["unavailable"] = list(missing)
    return {"uri": uri, "mimeType": "application/json", "text": orjson.dumps(merged).decode()}


def _total(catalogue: object, at_least: int) -> int:
    said = catalogue.get("total_count") if isinstance(catalogue, dict) else None
    return said if isinstance(said, int) and not isinstance(said, bool) and said > at_least else at_least
