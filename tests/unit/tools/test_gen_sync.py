"""The generator of the blocking twins."""

from pathlib import Path

import pytest

from tools.gen_sync import main, to_sync


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
    ],
)
def test_async_constructs_lose_their_asynchrony_and_nothing_else(source: str, twin: str) -> None:
    assert to_sync(source) == twin


def test_a_source_that_names_asyncio_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2: asyncio has no blocking form"):
        to_sync("x = 1\nimport asyncio\n")


def test_check_tells_a_stale_twin_and_writing_mends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("async def f() -> None: ...\n", encoding="utf-8")
    pairs = {"a.py": "sync_a.py"}
    assert main(["--check"], tmp_path, pairs) == 1
    assert "stale: sync_a.py" in capsys.readouterr().err
    assert main([], tmp_path, pairs) == 0
    assert main(["--check"], tmp_path, pairs) == 0
    (tmp_path / "a.py").write_text("async def g() -> None: ...\n", encoding="utf-8")
    assert main(["--check"], tmp_path, pairs) == 1


def test_a_missing_source_is_told_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path, {"gone.py": "sync_gone.py"}) == 1
    assert "gone.py" in capsys.readouterr().err


def test_every_twin_of_the_project_is_fresh() -> None:
    assert main(["--check"]) == 0
