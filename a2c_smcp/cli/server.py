"""`a2c server`: the signalling server."""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.server.setting_types import Option
from a2c_smcp.server.settings import ENV, LIMITS, OPTIONS, load


def run(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Say where the server listens, then serve until a signal."""
    from a2c_smcp.server.app import create_app  # noqa: PLC0415 - help must not wait for it, nor miss it
    from a2c_smcp.server.logs import configure  # noqa: PLC0415
    from a2c_smcp.server.server_process import ServerProcess  # noqa: PLC0415

    settings = load(vars(arguments), context.env)
    configure(settings.log_format, settings.log_level, context.stderr)
    with ServerProcess(create_app(settings)) as runner:
        yield runner.start()
        runner.wait()


def show(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """The one line."""
    return [f"listening on {terminal.cyan(value['url'])} (path {value['path']}, Ctrl-C ends)"]


def _argument(option: Option) -> Argument:
    default = "" if option.flag or option.default in (None, ()) else f" (default: {option.default})"
    return Argument(
        option.cli_name,
        option.help + default,
        metavar=option.metavar,
        many=option.many,
        flag=option.flag,
        choices=option.choices,
        completes="file" if option.metavar == "FILE" else "",
    )


_NAMES: Final = ", ".join(option.name.removeprefix("limits.") for option in LIMITS)

COMMAND: Final = Command(
    name="server",
    summary="Run the signalling server.",
    help=(
        f"Every option can also be set by environment ({ENV}PORT) and in a TOML file (port = 8000), in this order of "
        "precedence. Without credentials the server listens on loopback addresses only. SIGTERM or Ctrl-C lets calls "
        "under way end, a second one ends at once; SIGHUP reads keys again and reopens the audit log. "
        f"Limits are {_NAMES}."
    ),
    arguments=(
        *map(_argument, OPTIONS),
        Argument("--limits", "What one client may ask for.", metavar="NAME=VALUE", many=True),
        Argument("--config", "A TOML file with any of these settings.", metavar="FILE", completes="file"),
    ),
    handler=run,
    show=show,
    stream=True,
    extra="server",
    examples=(
        "a2c server",
        "a2c server --host 0.0.0.0 --token-keys keys.json --tls-cert cert.pem --tls-key key.pem",
        "A2C_SERVER_API_KEY=... a2c server --host 0.0.0.0 --redis redis://localhost --limits message_bytes=8MB",
    ),
)
