"""The signalling server: offices, routing and notifications between Agents and Computers.

Names are imported on first use, so that one part does not need the dependencies of another.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from a2c_smcp.server.app import SMCPApp, create_app
    from a2c_smcp.server.auth import AnyOf, ApiKeyAuth, AuthenticationProvider, TokenAuth
    from a2c_smcp.server.jwt_tokens import TokenKey, load_keys, read_token, sign_token
    from a2c_smcp.server.limits import ServerLimits
    from a2c_smcp.server.namespace import SMCPNamespace
    from a2c_smcp.server.observer import ServerObserver, ServerObservers
    from a2c_smcp.server.offices import Identity, Member
    from a2c_smcp.server.registry.memory import MemoryRegistry, Registry
    from a2c_smcp.server.registry.redis_registry import RedisRegistry
    from a2c_smcp.server.settings import ServerSettings
    from a2c_smcp.server.socketio_server import SMCPServer
    from a2c_smcp.server.sync_namespace import SyncSMCPNamespace

__all__ = [
    "AnyOf",
    "ApiKeyAuth",
    "AuthenticationProvider",
    "Identity",
    "Member",
    "MemoryRegistry",
    "RedisRegistry",
    "Registry",
    "SMCPApp",
    "SMCPNamespace",
    "SMCPServer",
    "ServerLimits",
    "ServerObserver",
    "ServerObservers",
    "ServerSettings",
    "SyncSMCPNamespace",
    "TokenAuth",
    "TokenKey",
    "create_app",
    "load_keys",
    "read_token",
    "sign_token",
]

_HOMES: Final = {
    "app": ("SMCPApp", "create_app"),
    "auth": ("AnyOf", "ApiKeyAuth", "AuthenticationProvider", "TokenAuth"),
    "jwt_tokens": ("TokenKey", "load_keys", "read_token", "sign_token"),
    "limits": ("ServerLimits",),
    "namespace": ("SMCPNamespace",),
    "observer": ("ServerObserver", "ServerObservers"),
    "offices": ("Identity", "Member"),
    "registry.memory": ("MemoryRegistry", "Registry"),
    "registry.redis_registry": ("RedisRegistry",),
    "settings": ("ServerSettings",),
    "socketio_server": ("SMCPServer",),
    "sync_namespace": ("SyncSMCPNamespace",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
