"""What is in the files is found, also after they change."""

import asyncio

from a2c_smcp.documents.indexing import Progress
from tests.documents.service.conftest import HOST, Serve, Write


async def test_hits_give_the_uri_of_the_element_and_the_words_around(serve: Serve, write: Write) -> None:
    write("zoo.md", "# Zoo\n\nThe penguins are fed at noon.\n")
    write("收入.md", "# 报告\n\n营业收入增长了。\n")
    service = await serve()
    async with asyncio.timeout(60):
        while not service.progress.complete:
            await service.search("anything")
    [hit] = await service.search("PENGUINS")
    assert (hit.uri, hit.doc_ref, hit.page_index, hit.element_id, hit.category, hit.title, hit.snippet) == (
        f"dpe://{HOST}/zoo.md/elements/txt-001",
        "zoo.md",
        0,
        "txt-001",
        "text",
        "Zoo",
        "The penguins are fed at noon.",
    )
    assert (await service.read(hit.uri)).title == "The penguins are fed at noon."
    [other] = await service.search("收入", doc_ref=(await service.complete_refs("doc"))[0], limit=1)
    assert other.title == "报告"
    assert service.progress == Progress(2, 2)
    assert service.progress.complete


async def test_a_document_is_found_by_its_name(serve: Serve, write: Write) -> None:
    write("quarterly-figures.csv", "a,b\n1,2\n")
    [hit, *_] = await (await serve()).search("quarterly")
    assert (hit.uri, hit.page_index, hit.element_id, hit.category) == (
        f"dpe://{HOST}/quarterly-figures.csv",
        None,
        None,
        None,
    )


async def test_search_keeps_up_with_the_files(serve: Serve, write: Write) -> None:
    path = write("a.txt", "penguin")
    write("same.txt", "penguin")
    service = await serve()
    first = await service.search("penguin")
    write("a.txt", "walrus")
    second = await service.search("penguin"), await service.search("walrus")
    path.unlink()
    third = await service.search("walrus")
    told = [[hit.doc_ref for hit in hits if hit.element_id] for hits in (first, *second, third)]
    assert told == [["a.txt", "same.txt"], ["same.txt"], ["a.txt"], []]


async def test_the_rows_of_a_long_table_are_found(serve: Serve, write: Write) -> None:
    write("long.csv", "n,word\n" + "".join(f"{n},w{n}\n" for n in range(900)))
    service = await serve()
    [hit] = await service.search("w777")
    assert hit.element_id == "tbl-001-r601"


async def test_pages_that_cannot_be_read_do_not_stop_the_index(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "page1 break\nwords penguins")
    service = await serve()
    assert [hit.page_index for hit in await service.search("penguins")] == [0, 2]
