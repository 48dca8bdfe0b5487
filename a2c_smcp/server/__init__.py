"""The signalling server: offices, routing and broadcast between Agents and Computers.

Names are imported when they are first used, so that one part does not need the libraries of another.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from a2c_smcp.server.app import SMCPApp, create_app
    from a2c_smcp.server.auth import AnyOf, ApiKeyAuth, AuthenticationProvider, TokenAuth
    from a2c_smcp.server.engine import SMCPServer
    from a2c_smcp.server.limits import Limits
    from a2c_smcp.server.namespace import SMCPNamespace
    from a2c_smcp.server.observer import Observer, Observers
    from a2c_smcp.server.registry.memory import MemoryRegistry, Registry
    from a2c_smcp.server.registry.redis import RedisRegistry
    from a2c_smcp.server.rooms import Identity, Seat
    from a2c_smcp.server.settings import ServerSettings
    from a2c_smcp.server.sync_namespace import SyncSMCPNamespace
    from a2c_smcp.server.tokens import TokenKey, load_keys, read_token, sign_token

__all__ = [
    "AnyOf",
    "ApiKeyAuth",
    "AuthenticationProvider",
    "Identity",
    "Limits",
    "MemoryRegistry",
    "Observer",
    "Observers",
    "RedisRegistry",
    "Registry",
    "SMCPApp",
    "SMCPNamespace",
    "SMCPServer",
    "Seat",
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
    "engine": ("SMCPServer",),
    "limits": ("Limits",),
    "namespace": ("SMCPNamespace",),
    "observer": ("Observer", "Observers"),
    "registry.memory": ("MemoryRegistry", "Registry"),
    "registry.redis": ("RedisRegistry",),
    "rooms": ("Identity", "Seat"),
    "settings": ("ServerSettings",),
    "sync_namespace": ("SyncSMCPNamespace",),
    "tokens": ("TokenKey", "load_keys", "read_token", "sign_token"),
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
