"""What a Computer without a shell writes to standard error."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interaction.computer.conftest import SERVERS
from tests.interaction.ports import free_port
from tests.interaction.server.programs import ROOT, command, environment

STAMPED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S")
REASON = "the life server was told to crash"


@pytest.mark.rule("5.5")
@pytest.mark.timeout(120)
def test_every_line_has_its_time_and_each_restart_gives_its_reason_once(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    crash = {"command": sys.executable, "args": [str(SERVERS / "life_server.py"), "--crash"]}
    config.write_text(json.dumps({"servers": {"life": {"type": "stdio", "server_parameters": crash}}}))
    seat = ("--url", f"http://127.0.0.1:{free_port()}", "--office", "lab", "--name", "desk")
    process = subprocess.Popen(
        command("computer", "--config", str(config), *seat),
        cwd=ROOT,
        env=environment({"XDG_STATE_HOME": str(tmp_path)}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    lines = []
    try:
        for line in process.stderr:
            lines.append(line.rstrip("\n"))
            if "waiting after 2 restarts" in line:
                break
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    assert [line for line in lines if not STAMPED.match(line)] == []
    of_server = [line.split(" ", 1)[1] for line in lines if " server life: " in line or REASON in line]
    assert [(line.split(": ")[1], REASON in line) for line in of_server] == [
        ("starting", False),
        ("waiting", True),
        ("starting after 1 restart", False),
        ("waiting after 1 restart", True),
        ("starting after 2 restarts", False),
        ("waiting after 2 restarts", True),
    ]
