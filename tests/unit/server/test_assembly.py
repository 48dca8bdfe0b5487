"""From settings to parts."""

import sys
from pathlib import Path

import pytest

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server import MemoryRegistry, RedisRegistry
from a2c_smcp.server.assembly import audit_of, read_api_keys, registry_of, tracing_of
from a2c_smcp.server.audit import AuditLog
from a2c_smcp.server.settings import ServerSettings
from a2c_smcp.server.tracing import Tracing
from a2c_smcp.server.values import ApiKey


def test_seats_are_kept_in_memory_unless_there_is_a_redis() -> None:
    assert isinstance(registry_of(ServerSettings()), MemoryRegistry)
    assert isinstance(registry_of(ServerSettings(redis="redis://127.0.0.1:1")), RedisRegistry)


def test_audit_and_spans_are_made_where_they_are_wanted(tmp_path: Path) -> None:
    assert audit_of(ServerSettings()) is None
    assert tracing_of(ServerSettings()) is None
    audit = audit_of(ServerSettings(audit_log=tmp_path / "audit.jsonl"))
    tracing = tracing_of(ServerSettings(otel=True))
    assert isinstance(audit, AuditLog)
    assert isinstance(tracing, Tracing)
    audit.close()
    tracing.close()


@pytest.mark.parametrize("missing", ["opentelemetry", "opentelemetry.sdk.trace"])
def test_spans_without_the_library_name_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "a2c_smcp.server.tracing")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InvalidConfig, match=r"a2c-smcp\[otel\]"):
        tracing_of(ServerSettings(otel=True))


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
