"""A real `redis-server` of the tests' own: on a Unix socket or a free port, in a directory of its own."""

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from tests.interaction.ports import free_port

NAME = "redis-server"


class RedisServer:
    """A Redis that keeps nothing on disk.

    Args:
        tcp: Listen on a free port of the loopback address instead of a Unix socket.
        settings: More of its configuration, as on its command line.
    """

    def __init__(self, *settings: str, tcp: bool = False) -> None:
        self.binary = shutil.which(NAME)
        self.folder = Path(tempfile.mkdtemp(prefix="a2c-redis-"))
        self.port = free_port() if tcp else 0
        self.path = self.folder / "redis.sock"
        self.settings = settings
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}" if self.port else f"unix://{self.path}"

    def start(self) -> "RedisServer":
        if self.binary is None:
            raise FileNotFoundError(NAME)
        listen = ["--port", str(self.port), "--bind", "127.0.0.1"] if self.port else ["--port", "0"]
        where = [] if self.port else ["--unixsocket", str(self.path)]
        quiet = ["--save", "", "--appendonly", "no", "--dir", str(self.folder), "--daemonize", "no"]
        self.process = subprocess.Popen(
            [self.binary, *listen, *where, *quiet, *self.settings], stdout=subprocess.PIPE, text=True
        )
        _wait_until_ready(self.process)
        return self

    def pause(self) -> None:
        """Stop it in its tracks: connections stay, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it without a word; what it held is gone."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.process = None

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _signal(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)


def _wait_until_ready(process: subprocess.Popen[str]) -> None:
    output: IO[str] | None = process.stdout
    said = []
    for line in output or ():
        said.append(line)
        if "eady to accept connections" in line:
            return
    process.wait()
    raise RuntimeError(f"{NAME} did not start:\n{''.join(said)}")


def redis_or_skip(*settings: str, tcp: bool = False) -> RedisServer:
    """A running Redis; the test is skipped where there is none to run."""
    import pytest

    if shutil.which(NAME) is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    return RedisServer(*settings, tcp=tcp).start()
