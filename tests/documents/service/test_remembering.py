"""What was read once is not read again."""

import asyncio
from pathlib import Path

from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from tests.documents.service.conftest import Make, Serve, Write


async def test_what_was_read_is_not_read_again(make: Make, serve: Serve, write: Write) -> None:
    write("a.misbehaving", "")
    async with make() as first:
        document, page = await first.document("a.misbehaving"), await first.page("a.misbehaving", 0)
        assert len(first._pool.pids) == 1
    second = await serve()
    assert (await second.document("a.misbehaving"), await second.page("a.misbehaving", 0)) == (document, page)
    await second.render_page("a.misbehaving", 0)
    assert len(second._pool.pids) == 1  # drawing was new


async def test_a_moved_file_needs_no_second_reading(serve: Serve, write: Write, root: Path) -> None:
    path = write("a.misbehaving", "")
    service = await serve()
    before = await service.document("a.misbehaving")
    (root / "sub").mkdir()
    path.rename(root / "sub" / "a.misbehaving")
    after = await service.document("sub-a.misbehaving")
    assert before.summary == after.summary  # which names the process that read it


async def test_who_recognizes_text_reaches_the_worker_and_keeps_results_apart(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "title ocr")
    policy = OcrPolicy((OcrSpec("local"),))
    titles = [(await (await serve(ocr=ocr)).document("a.misbehaving")).title for ocr in (None, policy, None)]
    assert titles == ["nobody reads pictures", policy.fingerprint, "nobody reads pictures"]


async def test_a_cleared_cache_is_filled_anew(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "words penguins")
    service = await serve()
    await service.page("a.misbehaving", 0)
    await service.search("penguins")
    await service.clear_cache()
    assert (await service.page("a.misbehaving", 1)).title == "Page 1"
    assert len(await service.search("penguins")) == 3


async def test_many_who_ask_at_once_cost_one_reading(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "")
    service = await serve()
    pages = await asyncio.gather(*(service.page("a.misbehaving", 0) for _ in range(20)))
    assert len({id(page) for page in pages}) == 20
    assert set(map(str, pages)) == {str(pages[0])}
