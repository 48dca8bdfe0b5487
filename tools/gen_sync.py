"""Generate the blocking twins (`sync_*.py`) from their async sources, tests included.

    python tools/gen_sync.py            rewrite the twins
    python tools/gen_sync.py --check    exit 1 if a twin is stale

`async` and `await` go by token, so strings and comments stay as they are; names change by one table. A source
that uses something the table does not know how to block on is an error, not a silent mistranslation.
"""

import argparse
import ast
import io
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PAIRS = {
    "a2c_smcp/server/registry/memory.py": "a2c_smcp/server/registry/sync_memory.py",
    "a2c_smcp/server/namespace.py": "a2c_smcp/server/sync_namespace.py",
    "a2c_smcp/agent/adapters/openai.py": "a2c_smcp/agent/adapters/sync_openai.py",
    "a2c_smcp/agent/adapters/model_tools.py": "a2c_smcp/agent/adapters/sync_model_tools.py",
    "a2c_smcp/agent/desktops.py": "a2c_smcp/agent/sync_desktops.py",
    "a2c_smcp/agent/conveniences.py": "a2c_smcp/agent/sync_conveniences.py",
    "a2c_smcp/agent/document_walk.py": "a2c_smcp/agent/sync_document_walk.py",
    "tests/unit/agent/adapters/test_openai.py": "tests/unit/agent/adapters/test_sync_openai.py",
    "tests/unit/agent/test_desktops.py": "tests/unit/agent/test_sync_desktops.py",
    "tests/unit/agent/test_document_walk.py": "tests/unit/agent/test_sync_document_walk.py",
    "tests/unit/tools/relay_source.py": "tests/unit/tools/sync_relay_source.py",
    "tests/unit/tools/test_relay_source.py": "tests/unit/tools/test_sync_relay_source.py",
}
RENAMES = {
    "AgentDocument": "SyncAgentDocument",
    "AgentElement": "SyncAgentElement",
    "AgentPage": "SyncAgentPage",
    "AsyncExitStack": "ExitStack",
    "AsyncGenerator": "Generator",
    "AsyncIterable": "Iterable",
    "AsyncIterator": "Iterator",
    "Conveniences": "SyncConveniences",
    "ConveniencesAgent": "SyncConveniencesAgent",
    "DesktopAgent": "SyncDesktopAgent",
    "DocumentAgent": "SyncDocumentAgent",
    "Documents": "SyncDocuments",
    "MemoryRegistry": "SyncMemoryRegistry",
    "ModelTools": "SyncModelTools",
    "OpenAITools": "SyncOpenAITools",
    "Registry": "SyncRegistry",
    "SMCPNamespace": "SyncSMCPNamespace",
    "StopAsyncIteration": "StopIteration",
    "ToolAgent": "SyncToolAgent",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "aclose": "close",
    "aclosing": "closing",
    "enter_async_context": "enter_context",
    "aiter": "iter",
    "anext": "next",
    "asynccontextmanager": "contextmanager",
    "concurrency": "sync_concurrency",
    "conveniences": "sync_conveniences",
    "desktops": "sync_desktops",
    "document_walk": "sync_document_walk",
    "memory": "sync_memory",
    "model_tools": "sync_model_tools",
    "relay_source": "sync_relay_source",
    "shell": "sync_shell",
}
HEADER = "# Generated from {source} by tools/gen_sync.py. Edit the source, not this file.\n"


def to_sync(source: str, renames: dict[str, str] | None = None) -> str:
    """Return `source` with every async construct replaced by its blocking form.

    Raises:
        ValueError: The source names something asynchronous that has no blocking form in the table.
    """
    renames = RENAMES if renames is None else renames
    lines = source.splitlines(keepends=True)
    edits: list[tuple[int, int, int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, start = token.start
        if token.type != tokenize.NAME:
            continue
        if token.string in ("async", "await"):
            end = start + len(token.string)
            while lines[row - 1][end : end + 1] in (" ", "\t"):
                end += 1
            edits.append((row, start, end, ""))
        elif token.string in renames:
            edits.append((row, start, token.end[1], renames[token.string]))
        elif token.string in ("asyncio", "anyio"):
            raise ValueError(f"line {row}: {token.string} has no blocking form; move it behind a name of the table")
    for row, start, end, text in reversed(edits):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + text + line[end:]
    result = "".join(lines)
    ast.parse(result)
    return result


def twin_of(source: Path) -> str:
    """The text of the twin of a source file below the project's root."""
    return HEADER.format(source=source.name) + to_sync(source.read_text(encoding="utf-8"))


def main(arguments: list[str] | None = None, root: Path = ROOT, pairs: dict[str, str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a twin is stale")
    check = parser.parse_args(arguments).check
    stale = []
    for source, twin in (PAIRS if pairs is None else pairs).items():
        try:
            text = twin_of(root / source)
        except (OSError, ValueError, SyntaxError) as problem:
            print(f"{source}: {problem}", file=sys.stderr)
            return 1
        target = root / twin
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        if check:
            stale.append(twin)
        else:
            target.write_text(text, encoding="utf-8")
    for twin in stale:
        print(f"stale: {twin} (run python tools/gen_sync.py)", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
