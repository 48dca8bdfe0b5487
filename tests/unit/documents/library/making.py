"""Folders of small files, and libraries over them."""

import os
from pathlib import Path

from a2c_smcp.documents.library import Library

HOST = "com.example.docs"
MODIFIED = 1_768_465_800  # 2026-01-15T08:30:00Z


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (MODIFIED, MODIFIED))
    return path


def library(*roots: Path) -> Library:
    return Library(roots, host=HOST)
