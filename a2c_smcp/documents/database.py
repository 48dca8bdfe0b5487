"""A SQLite file that several processes share and none depends on: damaged it is made anew, refused it is in memory."""

import contextlib
import logging
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

_BUSY_SECONDS: Final = 10
_SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")

_log = logging.getLogger(__name__)

T = TypeVar("T")


def cache_folder() -> Path:
    """Return where the system keeps what can be made again, in a folder of this project's own."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        named = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(named) if Path(named).is_absolute() else home / ".cache"
    return base / "a2c-smcp" / "documents"


class Database:
    """One file with one schema. A change of schema is a change of name; the files of earlier names are deleted.

    Deleted rows are overwritten; `scrub_soon` takes them out of the write-ahead log too.
    """

    def __init__(self, path: Path, schema: str, *, earlier: Iterable[str] = ()) -> None:
        for name in earlier:
            remove(path.with_name(name))
        self._path = path
        self._schema = schema
        self._lock = threading.RLock()
        self._closed = False
        self._unscrubbed = False
        self._connection = self._open()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for some statements that take effect together.

        Raises:
            sqlite3.Error: The disk is full, another process holds the file too long, or the file is damaged.
        """
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def write(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Do some work in a transaction; where the file does not let it, return the default."""

        def transact(_: sqlite3.Connection) -> T:
            with self.transaction() as connection:
                return work(connection)

        done = self.read(transact, default)
        self._scrub()
        return done

    def read(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Do some work that only reads; where the file does not let it, return the default."""
        with self._lock:
            if self._closed:
                return default
            try:
                return work(self._connection)
            except sqlite3.Error as error:
                if type(error) is not sqlite3.DatabaseError:  # full, locked, read-only: what could be kept is lost
                    _log.warning("The document cache did not work: %s", error)
                else:
                    _log.warning("The document cache is damaged and made anew: %s", error)
                    self._remake()
            return default

    def scrub_soon(self) -> None:
        """Take deleted rows out of the write-ahead log after this transaction; while others read, after the next."""
        self._unscrubbed = True

    def clear(self) -> None:
        """Start with an empty file."""
        with self._lock:
            self._remake()

    def close(self) -> None:
        """Let go of the file."""
        self._scrub()
        with self._lock:
            self._closed = True
            self._connection.close()

    def _scrub(self) -> None:
        if self._unscrubbed:
            checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
            self._unscrubbed = self.read(lambda connection: bool(connection.execute(checkpoint).fetchone()[0]), False)

    def _remake(self) -> None:
        self._connection.close()
        remove(self._path)
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError as error:
            _log.warning("The document cache is kept in memory: %s", error)
        except OSError as error:
            _log.warning("The document cache is kept in memory: %s", error.strerror)
        except sqlite3.DatabaseError:
            remove(self._path)
            with contextlib.suppress(sqlite3.Error, OSError):
                return self._connect()
        return self._prepared(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))  # for its owner alone, and so are its side files
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            return self._prepared(connection)
        except sqlite3.Error:
            connection.close()
            raise

    def _prepared(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        connection.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten, not only let go
        connection.executescript(f"BEGIN IMMEDIATE; {self._schema}; COMMIT;")
        return connection


def remove(path: Path) -> None:
    """Delete a database; who has it open goes on with what it has."""
    for side in _SIDE_FILES:
        with contextlib.suppress(OSError):
            path.with_name(path.name + side).unlink()
