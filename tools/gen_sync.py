"""Generate the blocking twins (`sync_*.py`) of async modules and of their tests.

    python tools/gen_sync.py            rewrite the twins
    python tools/gen_sync.py --check    exit 1 if a twin is stale

Every twin is the source with `async` and `await` removed and names replaced, token by token, so comments, docstrings
and formatting stay as they are. The names come from three tables: `LANGUAGE` (what Python has in both forms), `SUPPORT`
(what this package has in both forms, written by hand), and `TWINS`: each class of a twinned module gets the prefix
`Sync`, and an import of the module becomes an import of its twin.

A class that owns tasks of an event loop cannot be rewritten that way. Its row names it in `delegate`: the twin keeps
signatures and docstrings, and each public method runs the async method on the loop's own thread
(`a2c_smcp.agent.loop_thread`).

A source that uses asyncio directly is refused: it must go through a name of `SUPPORT`.
"""

import argparse
import ast
import io
import re
import sys
import textwrap
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
HEADER: Final = "# Generated from {source} by tools/gen_sync.py. Edit the source, not this file.\n"
WIDTH: Final = 120


@dataclass(frozen=True)
class Delegate:
    """How the twin of a class calls the async one.

    Attributes:
        name: The class.
        to: The async class that the calls go to, as `module:class`.
        callback: An argument that is called while its method waits; the twin calls it on a thread of its own.
        bodies: Bodies of methods that do more than wait for the result; `{arguments}` are those of the method.
    """

    name: str
    to: str
    callback: str = "on_progress"
    bodies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Twin:
    """A row of the table.

    Attributes:
        source: The async file, relative to the root of the project.
        names: Replacements that only this file needs; `module:name` is imported from there.
        delegate: Set where methods delegate to the async class.
    """

    source: str
    names: Mapping[str, str] = field(default_factory=dict)
    delegate: Delegate | None = None

    @property
    def target(self) -> str:
        """The generated file: `sync_x.py` for `x.py`, `test_sync_x.py` for `test_x.py`."""
        folder, _, name = self.source.rpartition("/")
        prefix = "test_" if name.startswith("test_") else ""
        return f"{folder}/{prefix}sync_{name.removeprefix(prefix)}".lstrip("/")


LANGUAGE: Final = {
    "AsyncExitStack": "ExitStack",
    "AsyncGenerator": "Generator",
    "AsyncIterable": "Iterable",
    "AsyncIterator": "Iterator",
    "StopAsyncIteration": "StopIteration",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "aclose": "close",
    "aclosing": "closing",
    "aiter": "iter",
    "anext": "next",
    "asynccontextmanager": "contextmanager",
    "enter_async_context": "enter_context",
}
SUPPORT: Final = {
    "AWAITS_COROUTINES": "SYNC_AWAITS_COROUTINES",
    "HandlerResult": "SyncHandlerResult",
    "PeriodicTimer": "SyncPeriodicTimer",
    "ReplyFuture": "SyncReplyFuture",
    "gather": "sync_gather",
    "resolve": "sync_resolve",
}
SUPPORT_MODULES: Final = {"a2c_smcp.server.async_runtime": "a2c_smcp.server.blocking_runtime"}

_CLIENT: Final = "a2c_smcp.agent.client:AsyncSMCPAgentClient"
_BLOCKING: Final = {
    "EventHandler": "a2c_smcp.agent.loop_thread:BlockingHandler",
    "OfficeEventStream": "a2c_smcp.agent.loop_thread:BlockingEventStream",
    "ProgressHandler": "a2c_smcp.agent.loop_thread:BlockingProgressHandler",
}
TWINS: Final = (
    Twin("a2c_smcp/server/registry/memory.py"),
    Twin("a2c_smcp/server/namespace.py"),
    Twin("a2c_smcp/server/stock_transport.py"),
    Twin(
        "a2c_smcp/agent/client.py",
        {"AsyncSMCPAgentClient": "SMCPAgentClient", **_BLOCKING},
        Delegate(
            "AsyncSMCPAgentClient",
            to=_CLIENT,
            bodies={
                "__init__": "super().__init__(name)\n"
                "self._agent = AsyncSMCPAgentClient({arguments})\n"
                "self._install_hooks(self._agent.on)",
                "connect": "self._start(self._agent.connect)",
                "close": "self._stop(self._agent.close)",
                "on": "return self._subscribe(self._agent.on, kind, handler)",
                "events": "return self._stream(self._agent.events)",
            },
        ),
    ),
    Twin(
        "a2c_smcp/agent/resources.py",
        {"ABC": "a2c_smcp.agent.loop_thread:BlockingClientBase"},
        Delegate("ResourceMethods", to=_CLIENT),
    ),
    Twin("a2c_smcp/agent/adapters/openai.py"),
    Twin("a2c_smcp/agent/adapters/model_tools.py"),
    Twin("a2c_smcp/agent/desktops.py"),
    Twin("a2c_smcp/agent/conveniences.py"),
    Twin("a2c_smcp/agent/document_walk.py"),
    Twin("tests/unit/agent/adapters/test_openai.py"),
    Twin("tests/unit/agent/test_desktops.py"),
    Twin("tests/unit/agent/test_document_walk.py"),
    Twin("tests/unit/tools/relay_source.py"),
    Twin("tests/unit/tools/test_relay_source.py"),
)


class Generator:
    """Makes the twins of the rows of a table, which may import each other.

    Raises:
        OSError: A source cannot be read.
        SyntaxError: A source is not valid Python.
    """

    def __init__(self, root: Path = ROOT, twins: tuple[Twin, ...] = TWINS) -> None:
        self.twins = twins
        self._root = root
        self._modules = dict(SUPPORT_MODULES)
        self._names = LANGUAGE | SUPPORT
        for twin in twins:
            self._modules[_module(twin.source)] = _module(twin.target)
            if not Path(twin.source).name.startswith("test_"):
                tree = ast.parse(self._read(twin))
                self._names |= {c.name: f"Sync{c.name}" for c in tree.body if isinstance(c, ast.ClassDef)}
        for twin in twins:
            if twin.delegate is not None and twin.delegate.name in twin.names:
                self._names[twin.delegate.name] = twin.names[twin.delegate.name]

    def text(self, twin: Twin) -> str:
        """Return the text of a twin.

        Raises:
            ValueError: The source uses something asynchronous that has no blocking form in the tables.
        """
        source = self._read(twin)
        names = {old: new.rpartition(":")[2] for old, new in twin.names.items()}
        body = self.to_sync(source, names, allow_asyncio=twin.delegate is not None)
        if twin.delegate is not None:
            body = _Delegation(twin, twin.delegate, source, body, self._names | names).text()
        return HEADER.format(source=Path(twin.source).name) + body

    def to_sync(self, source: str, names: Mapping[str, str] | None = None, *, allow_asyncio: bool = False) -> str:
        """Return `source` with every async construct replaced by its blocking form; raises as `text`."""
        names = self._names | dict(names or {})
        lines = source.splitlines(keepends=True)
        for row, line in self._imports(source):
            lines[row - 1] = line
        edits = list(_edits("".join(lines), names, allow_asyncio=allow_asyncio))
        for row, start, end, text in reversed(edits):
            line = lines[row - 1]
            lines[row - 1] = line[:start] + text + line[end:]
        result = "".join(lines)
        ast.parse(result)
        return result

    def _imports(self, source: str) -> Iterator[tuple[int, str]]:
        lines = source.splitlines(keepends=True)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module in self._modules:
                line = lines[node.lineno - 1]
                yield node.lineno, line.replace(node.module, self._modules[node.module], 1)

    def _read(self, twin: Twin) -> str:
        return (self._root / twin.source).read_text(encoding="utf-8")


def _edits(source: str, names: Mapping[str, str], *, allow_asyncio: bool) -> Iterator[tuple[int, int, int, str]]:
    """Yield what to replace: row, first and last column, and the new text."""
    lines = source.splitlines(keepends=True)
    quoted = set(_quoted_annotations(ast.parse(source)))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, start = token.start
        if token.type == tokenize.STRING and token.start in quoted:
            renamed = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), token.string)
            yield row, start, token.end[1], renamed
        if token.type != tokenize.NAME:
            continue
        if token.string in ("async", "await"):
            end = start + len(token.string)
            while lines[row - 1][end : end + 1] in (" ", "\t"):
                end += 1
            yield row, start, end, ""
        elif token.string in names:
            yield row, start, token.end[1], names[token.string]
        elif token.string in ("asyncio", "anyio") and not allow_asyncio:
            raise ValueError(f"line {row}: {token.string} has no blocking form; use a name of the table SUPPORT")


def _quoted_annotations(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield where annotations are written as strings."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
                pass
            case ast.FunctionDef(returns=annotation) | ast.AsyncFunctionDef(returns=annotation):
                pass
            case _:
                continue
        for leaf in ast.walk(annotation) if annotation is not None else ():
            if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str):
                yield leaf.lineno, leaf.col_offset


class _Delegation:
    """The twin of a class whose public methods run the async ones on the loop's thread."""

    def __init__(self, twin: Twin, row: Delegate, source: str, body: str, names: Mapping[str, str]) -> None:
        self._row = row
        self._async_methods = {
            node.name for node in _class_of(ast.parse(source), row.name).body if isinstance(node, ast.AsyncFunctionDef)
        }
        self._lines = body.splitlines(keepends=True)
        self._tree = ast.parse(body)
        self._class = _class_of(self._tree, names[row.name])
        places = (new.split(":") for new in twin.names.values() if ":" in new)
        self._imported = {name: module for module, name in places}
        self._source_module = _module(twin.source)
        module, name = row.to.split(":")
        self._imported[name] = module

    def text(self) -> str:
        """Return the module: its docstring, the imports that are used, and the class."""
        first = self._class.body[0]
        head = "".join(self._lines[self._class.lineno - 1 : _end_of(first)])
        code = head + "".join(self._members())
        docstring = "".join(self._lines[: _end_of(self._tree.body[0])])
        return f"{docstring}\n{self._imports(code)}\n\n{code}"

    def _members(self) -> Iterator[str]:
        for node in self._class.body[1:]:
            if not isinstance(node, ast.FunctionDef):
                continue
            body = self._body(node)
            if body is None:
                continue
            start = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            documented = ast.get_docstring(node) is not None
            end = _end_of(node.body[0]) if documented else node.body[0].lineno - 1
            yield f"\n{''.join(self._lines[start - 1 : end])}{body}"

    def _body(self, node: ast.FunctionDef) -> str | None:
        name, bodies = node.name, self._row.bodies
        if name.startswith("__") and name not in bodies:
            return "".join(self._lines[node.body[0].lineno - 1 : node.end_lineno])
        if name.startswith("_") and name not in bodies:
            return None
        arguments = _passed_on(node.args)
        if name in bodies:
            return _indented(bodies[name].replace("{arguments}", ", ".join(arguments)))
        if any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list):
            return _indented(f"return self._agent.{name}")
        if name not in self._async_methods:
            raise ValueError(f"{self._class.name}.{name} is not async and has no body in the table")
        callback = self._row.callback
        if not any(argument.arg == callback for argument in node.args.kwonlyargs):
            return _indented(f"return self._thread.run(self._agent.{name}({', '.join(arguments)}))")
        arguments[arguments.index(f"{callback}={callback}")] = f"{callback}=handler"
        return _indented(
            f"with self._handler_thread({callback}) as handler:\n"
            f"    return self._thread.run(self._agent.{name}({', '.join(arguments)}))"
        )

    def _imports(self, code: str) -> str:
        used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        wanted: dict[str, set[str]] = {}
        plain: set[str] = set()
        for node in self._tree.body:
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names = {alias.name for alias in node.names} & used - self._imported.keys()
                wanted.setdefault(node.module, set()).update(names)
            elif isinstance(node, ast.Import):
                plain |= {alias.name for alias in node.names} & used
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in used:
                wanted.setdefault(self._source_module, set()).add(node.target.id)
        for name in used & self._imported.keys():
            wanted.setdefault(self._imported[name], set()).add(name)
        ours = sorted(module for module, names in wanted.items() if names and module.startswith("a2c_smcp"))
        others = sorted(module for module, names in wanted.items() if names and module not in ours)
        lines = [*(f"import {name}\n" for name in sorted(plain)), *(_import(one, wanted[one]) for one in others), "\n"]
        return "".join([*lines, *(_import(one, wanted[one]) for one in ours)])


def _class_of(module: ast.Module, name: str) -> ast.ClassDef:
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    raise ValueError(f"there is no class {name}")


def _end_of(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _passed_on(arguments: ast.arguments) -> list[str]:
    positional = [argument.arg for argument in arguments.args[1:]]
    return positional + [f"{argument.arg}={argument.arg}" for argument in arguments.kwonlyargs]


def _indented(body: str) -> str:
    return textwrap.indent("".join(map(_wrapped, body.splitlines())), " " * 8)


def _wrapped(line: str) -> str:
    """Return a line, with the arguments of its innermost call one below the other where it is too long."""
    if len(line) + 8 <= WIDTH:
        return f"{line}\n"
    margin = " " * (len(line) - len(line.lstrip()))
    start = line.rindex("(") + 1
    end = line.index(")", start)
    rows = "".join(f"{margin}    {item},\n" for item in line[start:end].split(", "))
    return f"{line[:start]}\n{rows}{margin}{line[end:]}\n"


def _import(module: str, names: set[str]) -> str:
    line = f"from {module} import {', '.join(sorted(names))}\n"
    if len(line) <= WIDTH + 1:
        return line
    rows = "".join(f"    {name},\n" for name in sorted(names))
    return f"from {module} import (\n{rows})\n"


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def main(arguments: list[str] | None = None, root: Path = ROOT, twins: tuple[Twin, ...] = TWINS) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a twin is stale")
    check = parser.parse_args(arguments).check
    stale = []
    try:
        generator = Generator(root, twins)
        texts = {twin.target: generator.text(twin) for twin in twins}
    except (OSError, ValueError, SyntaxError) as problem:
        print(f"twins cannot be generated: {problem}", file=sys.stderr)
        return 1
    for name, text in texts.items():
        target = root / name
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        if check:
            stale.append(name)
        else:
            target.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"stale: {name} (run python tools/gen_sync.py)", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
