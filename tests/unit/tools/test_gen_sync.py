"""The generator of the blocking twins."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient, SMCPAgentClient
from a2c_smcp.agent.resources import ResourceMethods
from tools.gen_sync import TWINS, Delegate, Generator, Twin, main

CLIENT = '''"""A client."""

import asyncio
from typing import Any, Final

from a2c_smcp.types import Role

FIRST: Final = 1
LATER: Final = 2


class Client(Base):
    """What it is."""

    note = LATER

    def __init__(self, url: str, *, name: str) -> None:
        self._url = url

    async def __aenter__(self) -> "Client":
        await self.ask("agent")
        return self

    @property
    def name(self) -> str:
        """Its name."""
        return ""

    # Requests

    async def ask(self, role: Role, first: int = FIRST, *, last: Any = None) -> str:
        """Ask.

        Raises:
            ValueError: Never.
        """
        return await self._ask(role)

    async def run(self, *, on_progress: Handler | None = None) -> str:
        """Run."""
        return await asyncio.sleep(1)

    async def _ask(self, role: Role) -> str: ...
'''
TWIN = '''\
# Generated from client.py by tools/gen_sync.py. Edit the source, not this file.
"""A client."""

from typing import Any

from a2c_smcp.agent.client import Client, FIRST
from a2c_smcp.handlers import PlainHandler
from a2c_smcp.types import Role


class SyncClient(Base):
    """What it is."""

    def __init__(self, url: str, *, name: str) -> None:
        self._agent = Client(url, name=name)

    def __enter__(self) -> "SyncClient":
        self.ask("agent")
        return self

    @property
    def name(self) -> str:
        """Its name."""
        return self._agent.name

    def ask(self, role: Role, first: int = FIRST, *, last: Any = None) -> str:
        """Ask.

        Raises:
            ValueError: Never.
        """
        return self._thread.run(self._agent.ask(role, first, last=last))

    def run(self, *, on_progress: PlainHandler | None = None) -> str:
        """Run."""
        with self._handler_thread(on_progress) as handler:
            return self._thread.run(self._agent.run(on_progress=handler))
'''
ROW = Twin(
    "a2c_smcp/agent/client.py",
    {"Handler": "a2c_smcp.handlers:PlainHandler"},
    Delegate("Client", to="a2c_smcp.agent.client:Client", bodies={"__init__": "self._agent = Client({arguments})"}),
)


def generator(root: Path, *twins: Twin, **files: str) -> Generator:
    for twin, text in zip(twins, files.values(), strict=True):
        (root / twin.source).parent.mkdir(parents=True, exist_ok=True)
        (root / twin.source).write_text(text, encoding="utf-8")
    return Generator(root, twins)


@pytest.mark.parametrize(
    ("source", "twin"),
    [
        ("async def f() -> None: ...\n", "def f() -> None: ...\n"),
        ("x = await  f()\n", "x = f()\n"),
        ("async with a as b, c:\n    pass\n", "with a as b, c:\n    pass\n"),
        ("r = [x async for x in y]\n", "r = [x for x in y]\n"),
        ("async for x in y:\n    await x\n", "for x in y:\n    x\n"),
        ("s = 'await me'  # async too\n", "s = 'await me'  # async too\n"),
        ("await f(await g(), h)\n", "f(g(), h)\n"),
        (
            "async def f() -> None:\n    return await (\n        g()\n    )\n",
            "def f() -> None:\n    return (\n        g()\n    )\n",
        ),
        ("class A(SMCPNamespace): ...\n", "class A(SyncSMCPNamespace): ...\n"),
        ("x = await gather(f() for f in g)\n", "x = sync_gather(f() for f in g)\n"),
    ],
)
def test_async_constructs_lose_their_asynchrony_and_nothing_else(source: str, twin: str) -> None:
    assert Generator().to_sync(source) == twin


def test_a_source_that_names_asyncio_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2: asyncio has no blocking form"):
        Generator().to_sync("x = 1\nimport asyncio\n")


def test_twins_import_the_twins_of_each_other(tmp_path: Path) -> None:
    base, user = Twin("pkg/base.py"), Twin("pkg/user.py")
    made = generator(tmp_path, base, user, base="class Line: ...\n", user="from pkg.base import Line\n\nLine()\n")
    assert made.text(user).splitlines()[1:] == ["from pkg.sync_base import SyncLine", "", "SyncLine()"]


def test_a_delegating_twin_keeps_signatures_and_docstrings_and_runs_the_async_methods(tmp_path: Path) -> None:
    text = generator(tmp_path, ROW, client=CLIENT).text(ROW)
    assert text == TWIN


def test_a_delegating_class_needs_a_body_for_methods_that_are_not_async(tmp_path: Path) -> None:
    made = generator(tmp_path, ROW, client=CLIENT + "\n    def odd(self) -> None: ...\n")
    with pytest.raises(ValueError, match=r"SyncClient\.odd is not async and has no body"):
        made.text(ROW)


def test_check_reports_a_stale_twin_and_writing_repairs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("async def f() -> None: ...\n", encoding="utf-8")
    twins = (Twin("a.py"),)
    assert main(["--check"], tmp_path, twins) == 1
    assert "stale: sync_a.py" in capsys.readouterr().err
    assert main([], tmp_path, twins) == 0
    assert main(["--check"], tmp_path, twins) == 0
    (tmp_path / "a.py").write_text("async def g() -> None: ...\n", encoding="utf-8")
    assert main(["--check"], tmp_path, twins) == 1


def test_a_missing_source_is_reported_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path, (Twin("gone.py"),)) == 1
    assert "gone.py" in capsys.readouterr().err


def test_every_twin_of_the_project_is_fresh() -> None:
    assert main(["--check"]) == 0


def test_every_generated_file_has_a_row() -> None:
    root = Path(__file__).parents[3]
    found = {
        path.relative_to(root).as_posix()
        for folder in ("a2c_smcp", "tests")
        for path in (root / folder).rglob("*.py")
        if path.read_text(encoding="utf-8").startswith("# Generated from ")
    }
    assert found == {twin.target for twin in TWINS}


def public(kind: type) -> dict[str, Any]:
    return {name: member for name, member in inspect.getmembers(kind) if not name.startswith("_")}


def signature(method: Any) -> inspect.Signature:
    """Its signature, whatever the type of the handler that is called while it waits."""
    found = inspect.signature(method)
    parameters = [
        one.replace(annotation=Any if one.name == "on_progress" else one.annotation)
        for one in found.parameters.values()
    ]
    return found.replace(parameters=parameters)


def test_both_clients_have_the_same_methods_with_the_same_signatures_and_docstrings() -> None:
    blocking, client = public(SMCPAgentClient), public(AsyncSMCPAgentClient)
    assert sorted(blocking) == sorted(client)
    for name, member in client.items():
        assert inspect.getdoc(blocking[name]) == inspect.getdoc(member)
        declared = name in vars(AsyncSMCPAgentClient) | vars(ResourceMethods)
        if declared and callable(member) and name not in ("on", "events"):
            assert signature(blocking[name]) == signature(member)
