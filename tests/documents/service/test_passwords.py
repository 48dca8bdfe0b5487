"""A locked document opens with its password, which leaves no trace."""

from pathlib import Path

import pytest

from a2c_smcp.documents import catalogue_keeper
from a2c_smcp.errors import PageOutOfRange
from tests.documents.service.conftest import Make, Serve, Write


async def test_a_password_opens_a_locked_document_and_leaves_no_trace(
    make: Make, write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    write("vault.misbehaving", "open locked\ntitle Treasure\nwords penguins")
    asked: list[str] = []

    def passwords(doc_ref: str) -> str | None:
        asked.append(doc_ref)
        return "open sesame"

    async with make(passwords=passwords) as service:
        assert (await service.document("vault.misbehaving")).title == "Treasure"
        assert (await service.page("vault.misbehaving", 0)).elements[0].content == {"text": "penguins"}
        assert await service.search("penguins") == []
        assert service.progress.complete
    assert asked == ["vault.misbehaving"]
    kept = b"".join(path.read_bytes() for path in (tmp_path / "cache").iterdir())
    assert b"sesame" not in kept
    assert b"penguins" not in kept
    assert "sesame" not in caplog.text


@pytest.mark.parametrize("answer", ["wrong", None, ""])
async def test_without_the_right_password_a_document_says_so(serve: Serve, write: Write, answer: str | None) -> None:
    write("vault.misbehaving", "open locked")
    service = await serve(passwords=lambda _: answer)
    document = await service.document("vault.misbehaving")
    assert (document.page_count, document.summary) == (0, "Cannot be read: it is encrypted: a password opens it")
    with pytest.raises(PageOutOfRange, match="a password opens it"):
        await service.page("vault.misbehaving", 0)


async def test_a_password_that_comes_later_is_asked_for_again(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_keeper, "RETRY", -1)
    write("vault.misbehaving", "open locked")
    answers = iter([None, "open sesame"])
    service = await serve(passwords=lambda _: next(answers, None))
    await service.documents()
    assert (await service.page("vault.misbehaving", 0)).title == "Page 0"


async def test_a_failing_callback_is_no_password(serve: Serve, write: Write, caplog: pytest.LogCaptureFixture) -> None:
    word = "sesame"  # in the message, and not in the source that a traceback shows

    def passwords(_: str) -> str | None:
        raise RuntimeError(f"the secret is {word}")

    write("vault.misbehaving", "open locked")
    service = await serve(passwords=passwords)
    assert (await service.document("vault.misbehaving")).page_count == 0
    assert "sesame" not in caplog.text
