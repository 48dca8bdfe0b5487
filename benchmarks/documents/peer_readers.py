"""Runs in the environment of the other readers: paths of PDFs on standard input, Markdown as JSON on standard output.

One reader a run, named as the argument. What fails gives empty Markdown and a line on standard error.
"""

import importlib
import json
import sys
from collections.abc import Callable


def _markitdown() -> Callable[[str], str]:
    reader = importlib.import_module("markitdown").MarkItDown()
    return lambda path: str(reader.convert(path).text_content)


def _kreuzberg() -> Callable[[str], str]:
    kreuzberg = importlib.import_module("kreuzberg")
    config = kreuzberg.ExtractionConfig(output_format="markdown", disable_ocr=True)
    return lambda path: str(kreuzberg.extract_file_sync(path, config=config).content)


def _liteparse() -> Callable[[str], str]:
    settings = {"output_format": "markdown", "ocr_enabled": False, "quiet": True, "keep_headers_footers": True}
    reader = importlib.import_module("liteparse").LiteParse(num_workers=1, **settings)
    return lambda path: str(reader.parse(path).text)


READERS = {"markitdown": _markitdown, "kreuzberg": _kreuzberg, "liteparse": _liteparse}


def main(name: str) -> None:
    read = READERS[name]()
    found = {}
    for path in json.load(sys.stdin):
        try:
            found[path] = read(path)
        except Exception as error:  # noqa: BLE001 - another's failure is a result, not an end
            print(f"{name}: {path}: {type(error).__name__}", file=sys.stderr)
            found[path] = ""
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
