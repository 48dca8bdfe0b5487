"""What was read of files, on disk: pages, elements and descriptions by what is in a file, not by where it is.

    results   what a worker answered, by a digest of the file's content, its name, the code that read it, the options
              and the request; bounded in size, the least recently used leave first
    files     which content a path had when it last looked like this (time, size, inode), so that it is hashed once
    strikes   how often a request ended a worker

Results carry a label of the file they came from. When the last file of a label is gone, changed or no longer shared,
its results are deleted and overwritten on disk.

Every call but `is_new` is short and blocking. Several processes may use one file.
"""

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from a2c_smcp.documents.database import Database, remove
from a2c_smcp.documents.files import Signature
from a2c_smcp.documents.key_filter import KeyFilter

MAX_BYTES: Final = 512 << 20
"""How much the results may take, unless told otherwise."""

NAME: Final = "results-2.sqlite3"
EARLIER: Final = ("results-1.sqlite3",)

MAX_FILES: Final = 200_000
FILES_BETWEEN_COUNTS: Final = 1_000

KEEP_SECONDS: Final = 30 * 86_400
"""How long a result is kept that nobody uses."""

STRIKE_SECONDS: Final = 86_400
"""How long a strike counts: a machine under load can make anything too slow, but not every day."""

FRESH_SECONDS: Final = 1.0
"""How long what other processes have kept may go unseen: reading what they have read may be dear."""

_TOUCHES: Final = 256
_AT_ONCE: Final = 500

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS results (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL,
    used REAL NOT NULL, label BLOB);
CREATE INDEX IF NOT EXISTS results_by_use ON results (used);
CREATE INDEX IF NOT EXISTS results_by_label ON results (label);
CREATE TABLE IF NOT EXISTS total (id INTEGER PRIMARY KEY CHECK (id = 1), bytes INTEGER NOT NULL);
INSERT OR IGNORE INTO total VALUES (1, 0);
CREATE TRIGGER IF NOT EXISTS result_added AFTER INSERT ON results
    BEGIN UPDATE total SET bytes = bytes + length(new.value) + 64; END;
CREATE TRIGGER IF NOT EXISTS result_removed AFTER DELETE ON results
    BEGIN UPDATE total SET bytes = bytes - length(old.value) - 64; END;
CREATE TABLE IF NOT EXISTS files (path BLOB PRIMARY KEY, changed INTEGER, size INTEGER, inode INTEGER,
    content BLOB NOT NULL, seen REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_by_content ON files (content);
CREATE TABLE IF NOT EXISTS strikes (key BLOB PRIMARY KEY, count INTEGER NOT NULL, at REAL NOT NULL) WITHOUT ROWID
"""


class Result(NamedTuple):
    """An answer to keep, and the file it came from: path, look, content."""

    key: bytes
    value: bytes
    background: bool = False
    file: tuple[str, Signature, bytes] | None = None


class Store:
    """The results on disk.

    Args:
        folder: Where the file is; made where it is not there yet.
        max_bytes: How much the results may take.
    """

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._database = Database(folder / NAME, _SCHEMA, earlier=EARLIER)
        self._max_bytes = max_bytes
        self._touched: set[bytes] = set()
        self._remembered = 0
        self._key_filter: KeyFilter | None = None
        self._seen = (0, 0)
        self._seen_at = 0.0

    def is_new(self, *keys: bytes) -> bool:
        """Whether surely nothing is kept under these keys, neither results nor strikes; it never waits for the disk.

        That is known for a while after each `get` and `put`. What another process has kept meanwhile is found new, and
        read twice.
        """
        key_filter = self._key_filter
        if key_filter is None or time.monotonic() - self._seen_at > FRESH_SECONDS:
            return False
        return not any(key in key_filter for key in keys)

    def get(self, key: bytes) -> bytes | None:
        """Return a result, None where there is none."""
        found = self.get_many([key]).get(key)
        if found is not None:
            self._touched.add(key)
            if len(self._touched) >= _TOUCHES:
                self._database.write(self._note_use, None)
        return found

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the results there are."""

        def select(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            self._catch_up(connection)
            found: dict[bytes, bytes] = {}
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                found |= connection.execute(f"SELECT key, value FROM results WHERE key IN ({marks})", some)  # noqa: S608
            return found

        return self._database.read(select, {})

    def put(self, results: Iterable[Result]) -> None:
        """Keep results together; one that nobody asked for yet is the first to leave."""
        kept = [result for result in results if len(result.value) <= self._max_bytes // 4]

        def insert(connection: sqlite3.Connection) -> None:
            self._catch_up(connection).add(result.key for result in kept)
            self._note_use(connection)
            now = time.time()
            connection.executemany("DELETE FROM results WHERE key = ?", [(result.key,) for result in kept])
            rows = [
                (result.key, result.value, now - (86_400 if result.background else 0), _label_of(result))
                for result in kept
            ]
            connection.executemany("INSERT INTO results (key, value, used, label) VALUES (?, ?, ?, ?)", rows)
            self._evict(connection)
            for file in dict.fromkeys(result.file for result in kept if result.file is not None):
                self._remember(connection, *file)

        self._database.write(insert, None)

    def contents(self, files: Mapping[str, Signature]) -> dict[str, bytes]:
        """Return the content of the files, by their paths, that still look as they did."""
        looks = {os.fsencode(path): (path, _narrow(signature)) for path, signature in files.items()}
        names = list(looks)

        def select(connection: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for start in range(0, len(names), _AT_ONCE):
                some = names[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                sql = f"SELECT path, content, changed, size, inode FROM files WHERE path IN ({marks})"  # noqa: S608
                rows = connection.execute(sql, some)
                found |= {looks[name][0]: content for name, content, *look in rows if tuple(look) == looks[name][1]}
            return found

        return self._database.read(select, {})

    def remember(self, path: str, signature: Signature, content: bytes) -> None:
        """Keep which content a file has."""
        self._database.write(lambda connection: self._remember(connection, path, signature, content), None)

    def _remember(self, connection: sqlite3.Connection, path: str, signature: Signature, content: bytes) -> None:
        name = os.fsencode(path)
        before = connection.execute("SELECT path, content FROM files WHERE path = ?", (name,)).fetchall()
        row = (name, *_narrow(signature), content, time.time())
        connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", row)
        self._purge(connection, before)
        self._remembered += 1
        if self._remembered % FILES_BETWEEN_COUNTS == 0:
            [(count,)] = connection.execute("SELECT count(*) FROM files")
            excess = count - MAX_FILES * 9 // 10 if count > MAX_FILES else 0
            oldest = connection.execute("SELECT path FROM files ORDER BY seen LIMIT ?", (excess,)).fetchall()
            self._drop(connection, [path for (path,) in oldest])

    def forget(self, paths: Iterable[str], moved: Mapping[str, str] | None = None) -> None:
        """Delete what was read of files that are gone or no longer shared.

        Args:
            moved: Those that are at another path now; what was read of them is found there.
        """
        new = {os.fsencode(old): os.fsencode(path) for old, path in (moved or {}).items()}
        gone = [os.fsencode(path) for path in paths]

        def work(connection: sqlite3.Connection) -> None:
            for old in gone:
                if old in new:
                    row = "SELECT ?, changed, size, inode, content, seen FROM files WHERE path = ?"
                    connection.execute(f"INSERT OR IGNORE INTO files {row}", (new[old], old))
            self._drop(connection, gone)

        self._database.write(work, None)

    def forget_others(self, roots: Iterable[Path], paths: Iterable[str]) -> None:
        """Delete what was read of files in these folders other than the ones at `paths`."""
        present = {os.fsencode(path) for path in paths}
        folders = [os.fsencode(root) for root in roots]

        def work(connection: sqlite3.Connection) -> None:
            known: set[bytes] = set()
            for folder in folders:
                sep = os.sep.encode()
                beneath = folder.rstrip(sep) + sep, folder.rstrip(sep) + bytes([sep[0] + 1])
                sql = "SELECT path FROM files WHERE path = ? OR (path >= ? AND path < ?)"
                known.update(path for (path,) in connection.execute(sql, (folder, *beneath)))
            self._drop(connection, known - present)
            # What nobody has used for long is not kept for its own sake.
            connection.execute("DELETE FROM results WHERE used < ?", (time.time() - KEEP_SECONDS,))

        self._database.write(work, None)

    def _drop(self, connection: sqlite3.Connection, paths: Iterable[bytes]) -> None:
        rows: list[tuple[bytes, bytes]] = []
        for path in paths:
            rows += connection.execute("DELETE FROM files WHERE path = ? RETURNING path, content", (path,)).fetchall()
        self._purge(connection, rows)

    def _purge(self, connection: sqlite3.Connection, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Delete the results of these files, given as path and content, unless another file shares them."""
        for path, content in rows:
            label = _label(path, content)
            others = connection.execute("SELECT path FROM files WHERE content = ?", (content,))
            if not any(_label(other, content) == label for (other,) in others):
                connection.execute("DELETE FROM results WHERE label = ?", (label,))
                self._database.scrub_soon()

    def strike(self, key: bytes) -> int:
        """Count that a request ended a worker; return how often it has."""

        def count(connection: sqlite3.Connection) -> int:
            self._catch_up(connection).add([key])
            now = time.time()
            connection.execute("DELETE FROM strikes WHERE at < ?", (now - STRIKE_SECONDS,))
            connection.execute("INSERT OR IGNORE INTO strikes VALUES (?, 0, ?)", (key, now))
            sql = "UPDATE strikes SET count = count + 1 WHERE key = ? RETURNING count"
            [(strikes,)] = connection.execute(sql, (key,)).fetchall()
            return int(strikes)

        return self._database.write(count, 1)

    def strikes(self, *keys: bytes) -> list[int]:
        """Return how often each of these requests has ended a worker of late."""
        sql = f"SELECT key, count FROM strikes WHERE at >= ? AND key IN ({','.join('?' * len(keys))})"  # noqa: S608
        values = (time.time() - STRIKE_SECONDS, *keys)
        nothing: dict[bytes, int] = {}
        found = self._database.read(lambda connection: dict(connection.execute(sql, values).fetchall()), nothing)
        return [found.get(key, 0) for key in keys]

    @property
    def size(self) -> int:
        """How many bytes the results take."""
        return self._database.read(
            lambda connection: int(connection.execute("SELECT bytes FROM total").fetchone()[0]), 0
        )

    def clear(self) -> None:
        """Forget everything."""
        self._touched.clear()
        self._key_filter = None
        self._database.clear()

    def close(self) -> None:
        """Write down what was used, and let go of the file."""
        self._database.write(self._note_use, None)
        self._database.close()

    def _catch_up(self, connection: sqlite3.Connection) -> KeyFilter:
        """Return the filter with what was kept before this process came, and by others since."""
        seen = (self._key_filter, self._seen) if self._key_filter is not None else (KeyFilter(), (0, 0))
        key_filter, (last, version) = seen
        [(now,)] = connection.execute("PRAGMA data_version")
        if now != version:
            # All keys are read from their index, which is far smaller than the table.
            new = "WHERE id > ?" if last else "WHERE ? = 0"
            keys = f"SELECT key FROM results {new} UNION ALL SELECT key FROM strikes"  # noqa: S608
            [(newest,)] = connection.execute("SELECT coalesce(max(id), 0) FROM results")
            key_filter.add(key for (key,) in connection.execute(keys, (last,)))
            self._key_filter, self._seen = key_filter, (newest, now)
        self._seen_at = time.monotonic()
        return key_filter

    def _note_use(self, connection: sqlite3.Connection) -> None:
        now = time.time()
        touched, self._touched = self._touched, set()
        connection.executemany("UPDATE results SET used = ? WHERE key = ?", [(now, key) for key in touched])

    def _evict(self, connection: sqlite3.Connection) -> None:
        [(total,)] = connection.execute("SELECT bytes FROM total")
        excess = total - self._max_bytes
        if excess <= 0:
            return
        excess += self._max_bytes // 10  # so that it is not done again at once
        leaving = []
        for number, size in connection.execute("SELECT id, length(value) + 64 FROM results ORDER BY used"):
            leaving.append((number,))
            excess -= size
            if excess <= 0:
                break
        connection.executemany("DELETE FROM results WHERE id = ?", leaving)


def clear_store(folder: Path) -> None:
    """Delete the results on disk; a service that runs goes on with what it has."""
    remove(folder / NAME)


def _label_of(result: Result) -> bytes | None:
    return None if result.file is None else _label(os.fsencode(result.file[0]), result.file[2])


def _label(path: bytes, content: bytes) -> bytes:
    # Results depend on a file's content and its name.
    return hashlib.blake2b(content + b"\0" + path.rpartition(os.sep.encode())[2], digest_size=16).digest()


def _narrow(signature: Signature) -> Signature:
    # Some file systems number their files with more bits than SQLite has.
    changed, size, inode = signature
    return changed, size, inode & (1 << 62) - 1
