"""The generator of the blocking Agent client."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient, SMCPAgentClient
from a2c_smcp.agent.resources import ResourceMethods
from tools.gen_blocking import BODIES, ROOT, SOURCES, TARGET, TOLD, blocking_twin, main

SOURCE = '''
from typing import Any, Final
from a2c_smcp.types import Role

FIRST: Final = 1


class AsyncSMCPAgentClient(Base):
    """What it is."""

    def __init__(self, url: str, *, name: str) -> None:
        self._url = url

    @property
    def name(self) -> str:
        """Its name."""
        return ""

    async def ask(self, role: Role, first: int = FIRST, *, last: Any = None) -> str:
        """Ask.

        Raises:
            ValueError: Never.
        """
        return await self._ask(role)

    async def _ask(self, role: Role) -> str: ...
'''
BASE = '''
class Base:
    async def inherited(self) -> None:
        """Do it."""
'''
TWIN = '''\
class SMCPAgentClient(BlockingClientBase, SyncConveniences):
    """What it is."""

    def __init__(self, url: str, *, name: str) -> None:
        super().__init__(name)
        self._agent = AsyncSMCPAgentClient(url, name=name)
        self._follow(self._agent.on)

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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

    def inherited(self) -> None:
        """Do it."""
        return self._thread.run(self._agent.inherited())
'''


def test_each_public_method_waits_for_its_twin() -> None:
    header, _, body = blocking_twin([BASE, SOURCE]).partition("\n\n\n")
    assert body == TWIN
    assert header.splitlines()[3:] == [
        "from typing import Any",
        "",
        "from a2c_smcp.agent.client import AsyncSMCPAgentClient, FIRST",
        (
            "from a2c_smcp.agent.loop_thread import BlockingClientBase, BlockingEventStream, BlockingHandler, "
            "BlockingProgressHandler"
        ),
        "from a2c_smcp.agent.sync_conveniences import SyncConveniences",
        "from a2c_smcp.types import Role",
    ]


def test_what_is_called_while_a_method_waits_is_called_on_a_thread_of_its_own() -> None:
    method = """
    async def call(self, name: str, *, on_progress: ProgressHandler | None = None) -> str:
        return await self._ask(name)
"""
    assert blocking_twin([BASE, SOURCE + method]).endswith(
        """
    def call(self, name: str, *, on_progress: BlockingProgressHandler | None = None) -> str:
        with self._telling(on_progress) as told:
            call = self._agent.call(name, on_progress=told)
            return self._thread.run(call)

    def inherited(self) -> None:
        \"\"\"Do it.\"\"\"
        return self._thread.run(self._agent.inherited())
"""
    )


def test_a_method_that_neither_waits_nor_is_known_is_refused() -> None:
    with pytest.raises(ValueError, match=r"AsyncSMCPAgentClient\.odd neither waits"):
        blocking_twin([BASE, SOURCE + "\n    def odd(self) -> None: ...\n"])


def test_check_tells_a_stale_twin_and_writing_mends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for source in SOURCES:
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / source).write_text((ROOT / source).read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    assert f"stale: {TARGET}" in capsys.readouterr().err
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0


def test_a_missing_source_is_told_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path) == 1
    assert "resources.py" in capsys.readouterr().err


def test_the_twin_of_the_project_is_fresh() -> None:
    assert main(["--check"]) == 0


def public(kind: type) -> dict[str, Any]:
    return {name: member for name, member in inspect.getmembers(kind) if not name.startswith("_")}


def arguments(method: Any) -> inspect.Signature:
    """Its signature, with what is called while it waits of any kind: that of the blocking client is no coroutine."""
    signature = inspect.signature(method)
    told = {TOLD: Any}
    return signature.replace(
        parameters=[one.replace(annotation=told.get(one.name, one.annotation)) for one in signature.parameters.values()]
    )


def test_both_clients_have_the_same_methods_with_the_same_arguments_and_words() -> None:
    ours, theirs = public(SMCPAgentClient), public(AsyncSMCPAgentClient)
    assert sorted(ours) == sorted(theirs)
    for name, member in theirs.items():
        assert inspect.getdoc(ours[name]) == inspect.getdoc(member)
        if name in vars(AsyncSMCPAgentClient) | vars(ResourceMethods) and callable(member) and name not in BODIES:
            assert arguments(ours[name]) == arguments(member)
