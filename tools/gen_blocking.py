"""Generate the blocking Agent client from the signatures and docstrings of the async one.

    python tools/gen_blocking.py            rewrite a2c_smcp/agent/sync_client.py
    python tools/gen_blocking.py --check    exit 1 if it is stale

Each method hands its arguments to the async client, which runs on its own thread (`a2c_smcp.agent.loop_thread`), so
no logic is written twice; what is generated is typed as fully as the source.
"""

import argparse
import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("a2c_smcp/agent/resources.py", "a2c_smcp/agent/client.py")
CLIENT = "a2c_smcp.agent.client"
TARGET = "a2c_smcp/agent/sync_client.py"
ASYNC_NAME, SYNC_NAME = "AsyncSMCPAgentClient", "SMCPAgentClient"
BASES = {"a2c_smcp.agent.loop_thread": "BlockingClientBase", "a2c_smcp.agent.sync_conveniences": "SyncConveniences"}
WIDTH = 120

HEADER = """\
# Generated from {sources} by tools/gen_blocking.py. Edit the sources, not this file.
\"\"\"The Agent's client for code that waits: what `{async_}` does, done when it returns.\"\"\"

"""
# Methods whose blocking form is more than waiting for the answer.
BODIES = {
    "connect": "self._begin(self._agent.connect)",
    "close": "self._end(self._agent.close)",
    "on": "return self._listen(self._agent.on, kind, handler)",
    "events": "return self._stream(self._agent.events)",
}
RETYPED = {
    "OfficeEventStream": "BlockingEventStream",
    "EventHandler": "BlockingHandler",
    "ProgressHandler": "BlockingProgressHandler",
}
# An argument that is called while its method waits, on a thread of its own.
TOLD = "on_progress"
CONTEXT = """
    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
"""


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if the twin is stale")
    check = parser.parse_args(arguments).check
    try:
        text = blocking_twin([(root / source).read_text(encoding="utf-8") for source in SOURCES])
    except (OSError, ValueError, SyntaxError) as problem:
        print(problem, file=sys.stderr)
        return 1
    target = root / TARGET
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return 0
    if check:
        print(f"stale: {TARGET} (run python tools/gen_blocking.py)", file=sys.stderr)
        return 1
    target.write_text(text, encoding="utf-8")
    return 0


def blocking_twin(sources: list[str]) -> str:
    """Return the blocking client; the last source holds the client, the others what it inherits.

    Raises:
        ValueError: A public method is of a kind that has no blocking form.
    """
    modules = [ast.parse(source) for source in sources]
    client = _class_of(modules[-1], ASYNC_NAME)
    bases = {base.id for base in client.bases if isinstance(base, ast.Name)}
    inherited = [_class_of(module, name) for module in modules[:-1] for name in _classes(module) if name in bases]
    members = [member for one in (client, *inherited) for member in _members(one)]
    body = _constructor(client) + CONTEXT + "".join(members)
    code = f"class {SYNC_NAME}({', '.join(BASES.values())}):\n{_docstring(client, 4)}{body}"
    names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    sources_named = ", ".join(Path(source).name for source in SOURCES)
    header = HEADER.format(sources=sources_named, async_=ASYNC_NAME)
    return header + _imports(modules, names) + "\n\n" + code


def _constructor(client: ast.ClassDef) -> str:
    init = next(node for node in client.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    agent = _wrapped(f"        self._agent = {ASYNC_NAME}", _handed_on(init.args), "")
    follow = "        self._follow(self._agent.on)\n"
    return f"\n{_signature(init)}        super().__init__(name)\n{agent}{follow}"


def _members(of: ast.ClassDef) -> list[str]:
    members = []
    for node in of.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        is_property = any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)
        call = f"self._agent.{node.name}({', '.join(_handed_on(node.args))})"
        if node.name in BODIES:
            body = BODIES[node.name]
        elif is_property:
            body = f"return self._agent.{node.name}"
        elif any(argument.arg == TOLD for argument in node.args.kwonlyargs):
            told = call.replace(f"{TOLD}={TOLD}", f"{TOLD}=told")
            lines = (f"with self._telling({TOLD}) as told:", f"    call = {told}", "    return self._thread.run(call)")
            body = f"\n{' ' * 8}".join(lines)
        elif isinstance(node, ast.AsyncFunctionDef):
            body = f"return self._thread.run({call})"
        else:
            raise ValueError(f"{of.name}.{node.name} neither waits nor has a blocking form in the table")
        mark = "    @property\n" if is_property else ""
        members.append(f"\n{mark}{_signature(node)}{_docstring(node, 8)}        {body}\n")
    return members


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    copy = ast.parse(ast.unparse(node).replace("async def", "def", 1)).body[0]
    if not isinstance(copy, ast.FunctionDef):
        raise TypeError(f"{node.name} is no function")
    for part in ast.walk(copy):
        if isinstance(part, ast.Name) and part.id in RETYPED:
            part.id = RETYPED[part.id]
    returns = f" -> {ast.unparse(copy.returns)}" if copy.returns is not None else ""
    return _wrapped(f"    def {copy.name}", _arguments(copy.args), f"{returns}:")


def _arguments(arguments: ast.arguments) -> list[str]:
    defaults: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    positional = [_argument(a, d) for a, d in zip(arguments.args, defaults + list(arguments.defaults), strict=True)]
    named = [_argument(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return [*positional, *(["*", *named] if named else [])]


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    if argument.annotation is None:
        return argument.arg
    typed = f"{argument.arg}: {ast.unparse(argument.annotation)}"
    return typed if default is None else f"{typed} = {ast.unparse(default)}"


def _handed_on(arguments: ast.arguments) -> list[str]:
    positional = [argument.arg for argument in arguments.args[1:]]
    return positional + [f"{argument.arg}={argument.arg}" for argument in arguments.kwonlyargs]


def _wrapped(before: str, items: list[str], after: str) -> str:
    line = f"{before}({', '.join(items)}){after}\n"
    if len(line) <= WIDTH + 1:
        return line
    margin = " " * (len(before) - len(before.lstrip()))
    rows = "".join(f"{margin}    {item},\n" for item in items)
    return f"{before}(\n{rows}{margin}){after}\n"


def _docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, indent: int) -> str:
    text = ast.get_docstring(node)
    if text is None:
        return ""
    margin = " " * indent
    first, *rest = text.splitlines()
    lines = [f'{margin}"""{first}', *(f"{margin}{line}".rstrip() for line in rest)]
    closing = '"""' if not rest else f'\n{margin}"""'
    return "\n".join(lines) + closing + "\n"


def _imports(modules: list[ast.Module], names: set[str]) -> str:
    wanted = {module: {name} for module, name in BASES.items()} | {CLIENT: {ASYNC_NAME}}
    wanted["a2c_smcp.agent.loop_thread"] |= set(RETYPED.values())
    whole: set[str] = set()
    for node in (node for module in modules for node in module.body):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            wanted.setdefault(node.module, set()).update({alias.name for alias in node.names} & names)
        elif isinstance(node, ast.Import):
            whole |= {alias.name for alias in node.names} & names
    wanted[CLIENT] |= _assigned(modules[-1]) & names
    ours: list[str] = []
    others = [f"import {name}\n" for name in sorted(whole)]
    for module_name in sorted(name for name in wanted if wanted[name]):
        line = _import(module_name, sorted(wanted[module_name]))
        (ours if module_name.startswith("a2c_smcp") else others).append(line)
    return "".join(others) + "\n" + "".join(ours)


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}\n"
    return line if len(line) <= WIDTH + 1 else _wrapped(f"from {module} import ", names, "")


def _assigned(module: ast.Module) -> set[str]:
    """The constants of a module."""
    targets = (node.target for node in module.body if isinstance(node, ast.AnnAssign))
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _classes(module: ast.Module) -> list[str]:
    return [node.name for node in module.body if isinstance(node, ast.ClassDef)]


def _class_of(module: ast.Module, name: str) -> ast.ClassDef:
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    raise ValueError(f"there is no class {name}")


if __name__ == "__main__":
    raise SystemExit(main())
