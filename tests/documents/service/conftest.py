"""A service over a folder of its own, with a cache of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.formats import registry
from a2c_smcp.documents.service import DocumentService

HOST = "com.example.docs"
MISBEHAVING = "tests.documents.hostile.misbehaving"

Make = Callable[..., DocumentService]
Serve = Callable[..., Awaitable[DocumentService]]
Write = Callable[[str, str | bytes], Path]


@pytest.fixture(autouse=True)
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", [])
    registry.register(MISBEHAVING)
    yield
    registry.formats.cache_clear()
    registry.format_of.cache_clear()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def make(root: Path, tmp_path: Path) -> Make:
    """A service that is not entered yet."""

    def made(**options: Any) -> DocumentService:
        given: dict[str, Any] = {"host": HOST, "cache": tmp_path / "cache", "workers": 1, "watch": False}
        return DocumentService([root], **given | options)

    return made


@pytest.fixture
async def serve(make: Make) -> AsyncIterator[Serve]:
    """A service that runs until the end of the test."""
    async with AsyncExitStack() as stack:

        async def start(**options: Any) -> DocumentService:
            return await stack.enter_async_context(make(**options))

        yield start


@pytest.fixture
def write(root: Path) -> Write:
    def make(name: str, text: str | bytes) -> Path:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        unseen = path.with_name(f".{path.name}.new")  # whoever looks meanwhile sees the file as a whole or not at all
        unseen.write_bytes(text if isinstance(text, bytes) else text.encode())
        return unseen.replace(path)

    return make
