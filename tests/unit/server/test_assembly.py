"""From settings to parts."""

import sys
from pathlib import Path

import pytest

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server import MemoryRegistry, RedisRegistry
from a2c_smcp.server.assembly import create_audit_log, create_registry, create_tracing, read_api_keys
from a2c_smcp.server.audit import AuditLog
from a2c_smcp.server.setting_types import ApiKey
from a2c_smcp.server.settings import ServerSettings
from a2c_smcp.server.tracing import Tracing


def test_names_are_kept_in_memory_unless_there_is_a_redis() -> None:
    assert isinstance(create_registry(ServerSettings()), MemoryRegistry)
    assert isinstance(create_registry(ServerSettings(redis="redis://127.0.0.1:1")), RedisRegistry)


def test_audit_and_spans_are_made_where_they_are_wanted(tmp_path: Path) -> None:
    assert create_audit_log(ServerSettings()) is None
    assert create_tracing(ServerSettings()) is None
    audit = create_audit_log(ServerSettings(audit_log=tmp_path / "audit.jsonl"))
    tracing = create_tracing(ServerSettings(otel=True))
    assert isinstance(audit, AuditLog)
    assert isinstance(tracing, Tracing)
    audit.close()
    tracing.close()


@pytest.mark.parametrize("missing", ["opentelemetry", "opentelemetry.sdk.trace"])
def test_spans_without_the_library_name_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "a2c_smcp.server.tracing")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InvalidConfig, match=r"\[otel\]"):
        create_tracing(ServerSettings(otel=True))


def test_a_file_of_keys_has_one_a_line(tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    file.write_text("# of the lab\n  one \n\ntwo,not-three\n")
    assert read_api_keys(file) == (ApiKey("one"), ApiKey("two,not-three"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "has no key"),
        (b"# only this\n", "has no key"),
        (b"a b\n", "printable ASCII"),
        (b"\xff", "not a text file"),
    ],
)
def test_a_file_without_keys_is_refused(text: bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    file.write_bytes(text)
    with pytest.raises(InvalidConfig, match=why):
        read_api_keys(file)
