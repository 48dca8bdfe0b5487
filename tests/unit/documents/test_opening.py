"""Whatever a parser does, one sentence comes out."""

from pathlib import Path

import pytest

from a2c_smcp.documents.formats.base import (
    Description,
    OpenDocument,
    OpenOptions,
    PagedDocument,
    PasswordNeeded,
)
from a2c_smcp.documents.model import Page
from a2c_smcp.documents.opening import Opened, describe, open_file, reason_of
from a2c_smcp.errors import DocumentError


class Vault(PagedDocument):
    closed = False

    def close(self) -> None:
        self.closed = True


class Locked:
    """A format whose files want the password "sesame"."""

    def file_type(self, name: str) -> str | None:
        return "vault"

    def open(self, path: Path, *, options: OpenOptions = OpenOptions()) -> OpenDocument:  # noqa: B008
        if options.password != "sesame":
            raise PasswordNeeded("it is encrypted and wants a password")
        return Vault(Description(title="Treasure", page_count=1), [Page(0)])


class Failing(Locked):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def open(self, path: Path, *, options: OpenOptions = OpenOptions()) -> OpenDocument:  # noqa: B008
        raise self.error


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.unknown"
    path.write_bytes(b"x")
    return path


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DocumentError("broken at its heart"), "broken at its heart"),
        (PermissionError(13, "Permission denied", "/a/secret/place"), "Permission denied"),
        (OSError(), "OSError"),
        (MemoryError(), "it needs more memory than a document is given"),
        (RecursionError("maximum"), "it is nested too deep"),
        (KeyError("/a/secret/place"), "the parser failed (KeyError)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_a_reason_says_what_happened_and_nothing_of_the_host(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason


@pytest.mark.parametrize(
    ("error", "locked", "lasting"),
    [
        (DocumentError("broken"), False, True),
        (PasswordNeeded("encrypted"), True, True),
        (DocumentError("it wants a Password"), True, True),
        (PermissionError(13, "Permission denied"), False, False),
        (MemoryError(), False, False),
    ],
    ids=["broken", "locked", "locked in words", "refused", "memory"],
)
def test_a_problem_knows_whether_a_password_or_time_may_help(
    file: Path, error: Exception, locked: bool, lasting: bool
) -> None:
    opened = open_file(file, (Failing(error), "vault"), OpenOptions())
    told, description = describe(opened)
    assert (told.locked, told.lasting, description.page_count) == (locked, lasting, 0)
    assert opened.problem == description.summary == f"Cannot be read: {reason_of(error)}"


def test_a_missing_library_is_no_fault_of_the_file(file: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        open_file(file, (Failing(ModuleNotFoundError("pip install")), "vault"), OpenOptions())


def test_closing_lets_go_where_there_is_something_to_let_go_of(file: Path) -> None:
    vault = Vault(Description(), ())
    Opened(vault, "vault").close()
    Opened(PagedDocument(Description(), ()), "txt").close()
    assert vault.closed
