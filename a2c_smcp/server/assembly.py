"""Creates the parts of a server from its settings: authentication, registry, audit log, tracing."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.extras import install_hint
from a2c_smcp.errors import InvalidConfig, SMCPError
from a2c_smcp.server.audit import AuditLog
from a2c_smcp.server.auth import AnyOf, ApiKeyAuth, AuthenticationProvider, AuthResult, TokenAuth
from a2c_smcp.server.jwt_tokens import is_readable_by_others, load_keys
from a2c_smcp.server.observer import ServerObserver
from a2c_smcp.server.offices import Identity
from a2c_smcp.server.registry.memory import MemoryRegistry, Registry
from a2c_smcp.server.setting_types import ApiKey
from a2c_smcp.server.settings import ServerSettings

log = logging.getLogger(__name__)

SHORT_KEY: Final = 16


class ConfiguredAuth:
    """Authenticates with the API keys and token keys of the settings; `reload` reads the files again.

    Raises:
        InvalidConfig: A file cannot be read.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._provider = self._read()

    def reload(self) -> None:
        """Read the key files again.

        Raises:
            InvalidConfig: A file cannot be read; the previous keys stay in use.
        """
        self._provider = self._read()

    def authenticate(
        self, server: Any, environ: Mapping[str, Any], auth: Any, headers: Mapping[str, str]
    ) -> AuthResult | Awaitable[AuthResult]:
        """Return the identity of a client, or None."""
        return self._provider.authenticate(server, environ, auth, headers)

    def _read(self) -> AnyOf:
        settings = self._settings
        providers: list[AuthenticationProvider] = []
        keys = (*settings.api_keys, *(read_api_keys(settings.api_key_file) if settings.api_key_file else ()))
        if keys:
            providers.append(ApiKeyAuth({one.key: Identity(one.role, one.name, one.office_id) for one in keys}))
            if any(len(one.key) < SHORT_KEY for one in keys):
                log.warning("API key is short and can be guessed: min_characters=%d", SHORT_KEY)
        if settings.token_keys:
            providers.append(TokenAuth(load_keys(settings.token_keys)))
            if is_readable_by_others(settings.token_keys):
                log.warning("%s is readable by other users; run chmod 600", settings.token_keys.name)
        return AnyOf(*providers)


def read_api_keys(path: Path) -> tuple[ApiKey, ...]:
    """Return the keys of a file, one a line; empty lines and lines that begin with # are ignored.

    Raises:
        InvalidConfig: The file cannot be read or has no key; the message quotes nothing of it.
    """
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise InvalidConfig(f"api_key_file {path}: {error.strerror}") from None
    except UnicodeError:
        raise InvalidConfig(f"api_key_file {path}: not a text file") from None
    try:
        keys = ServerSettings.of(api_keys=[line for line in lines if line and not line.startswith("#")]).api_keys
    except InvalidConfig as error:
        raise InvalidConfig(f"api_key_file {path}: {error}") from None
    if not keys:
        raise InvalidConfig(f"api_key_file {path}: has no key")
    return keys


def create_registry(settings: ServerSettings) -> Registry:
    """Return the registry: in memory, or in Redis."""
    if settings.redis is None:
        return MemoryRegistry()
    from a2c_smcp.server.registry.redis_registry import RedisRegistry  # noqa: PLC0415 - only many nodes need it

    return RedisRegistry(settings.redis, lease_seconds=settings.redis_lease)


def create_audit_log(settings: ServerSettings) -> AuditLog | None:
    """Return the audit log, or None if it is off.

    Raises:
        InvalidConfig: The file cannot be opened.
    """
    if settings.audit_log is None:
        return None
    try:
        return AuditLog(settings.audit_log)
    except OSError as error:
        raise InvalidConfig(f"audit_log {settings.audit_log}: {error.strerror}") from None


def create_tracing(settings: ServerSettings) -> ServerObserver | None:
    """Return the observer that creates spans, or None if tracing is off.

    Raises:
        InvalidConfig: OpenTelemetry is not installed.
    """
    if not settings.otel:
        return None
    try:
        from a2c_smcp.server.tracing import Tracing  # noqa: PLC0415 - an optional part

        return Tracing()
    except ModuleNotFoundError as error:
        raise InvalidConfig(f"otel: {error.name} is not installed; {install_hint('otel')}") from None


def reload_guarded(what: str, read: Callable[[], None]) -> None:
    """Call a function that reloads something; log the result."""
    try:
        read()
    except (SMCPError, OSError) as error:
        log.error("reload failed, nothing changed: part=%r reason=%s", what, error)
    else:
        log.info("reloaded: part=%r", what)
