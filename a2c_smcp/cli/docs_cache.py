"""`a2c docs cache`: what was read from files is kept, so that it is read once."""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.terminal import Terminal

CACHE: Final = Argument(
    "--cache", "Where results are kept (default: the user's cache folder).", metavar="DIR", completes="directory"
)

_UNITS: Final = ("bytes", "KB", "MB", "GB")


# What a command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def info(_: Context, arguments: Namespace) -> Any:
    """Return where the cache is and how much is in it."""
    folder = chosen(arguments)
    return {"folder": str(folder), "bytes": _size(folder)}


def clear(_: Context, arguments: Namespace) -> Any:
    """Delete the cache, and return how much that was."""
    from a2c_smcp.documents.search import clear_index  # noqa: PLC0415
    from a2c_smcp.documents.store import clear_store  # noqa: PLC0415

    folder = chosen(arguments)
    before = _size(folder)
    clear_store(folder)
    clear_index(folder)
    return {"folder": str(folder), "freed": before - _size(folder)}


def chosen(arguments: Namespace) -> Path:
    """Return the folder of the cache."""
    from a2c_smcp.documents.database import cache_folder  # noqa: PLC0415

    return Path(arguments.cache).expanduser() if arguments.cache is not None else cache_folder()


def show_info(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """The one line."""
    return [f"{_written(value['bytes'])} in {terminal.cyan(value['folder'])}"]


def show_clear(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """The one line."""
    return [f"{_written(value['freed'])} freed in {terminal.cyan(value['folder'])}"]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    # Only what is known by name: the folder may have been chosen with other things in it.
    from a2c_smcp.documents import search, store  # noqa: PLC0415

    for name in (store.NAME, search.NAME):
        yield from (path for path in folder.glob(f"{name}*") if path.is_file())


def _written(count: float) -> str:
    for unit in _UNITS[:-1]:
        if count < 1_000:
            return f"{count:.3g} {unit}" if unit != _UNITS[0] else f"{count:.0f} {unit}"
        count /= 1_000
    return f"{count:.3g} {_UNITS[-1]}"


COMMAND: Final = Command(
    name="cache",
    summary="What was read from files, kept on disk.",
    commands=(
        Command(
            "info",
            "Show where the cache is and how large.",
            info,
            (CACHE,),
            show=show_info,
            extra="documents",
            examples=("a2c docs cache info",),
        ),
        Command(
            "clear",
            "Delete the cache; files are read again when they are asked for.",
            clear,
            (CACHE,),
            show=show_clear,
            extra="documents",
            examples=("a2c docs cache clear",),
        ),
    ),
)
