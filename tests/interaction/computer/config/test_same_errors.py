"""An edited file that cannot be used is reported like one that cannot be used at the start."""

import asyncio
import json
from pathlib import Path

import pytest

from a2c_smcp.cli import computer_show
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.config.live_config import STAYS
from a2c_smcp.errors import InvalidConfig
from tests.interaction.computer.changing import CAP, call, entry, write
from tests.interaction.computer.conftest import AUTO

BROKEN = {"vrl": ". = ", "tool_meta": {"pay": {"ret_object_mapper": {"a": "b["}}}}


@pytest.mark.rule("5.3")
async def test_a_broken_script_and_mapper_are_reported_alike_at_the_start_and_after_an_edit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = entry(tmp_path, "bank", "pay", default_tool_meta=AUTO)
    config = write(tmp_path, bank=good | BROKEN)
    with pytest.raises(InvalidConfig) as caught:
        await Computer(config, state=tmp_path / "state").start()
    problems = (caught.value.details or {})["problems"]
    assert [problem.split(":")[0] for problem in problems] == [
        "servers.bank.vrl",
        "servers.bank.tool_meta.pay.ret_object_mapper",
    ]
    assert caught.value.message.startswith(f"{config}:")

    write(tmp_path, bank=good)
    async with Computer(config, state=tmp_path / "state") as computer:
        told = asyncio.Event()
        computer.on_change(lambda kind: told.set() if kind == "configuration" else None)
        write(tmp_path, bank=good | BROKEN)
        await asyncio.wait_for(told.wait(), CAP)
        shown = f"{caught.value.message}\n{STAYS}"
        assert computer.status()["configuration"]["problem"] == shown
        assert any(shown in message for message in caplog.messages)
        lines = list(computer_show.event({"event": "configuration", "problem": shown}, Terminal()))
        assert STAYS in lines[0]
        # It goes on with what it had.
        await asyncio.wait_for(computer.settled(), CAP)
        assert await call(computer, "pay") == "bank/pay"
        assert computer.settings.config.servers["bank"].vrl is None

        told.clear()
        config.write_text(json.dumps({"servers": {"bank": good}}))
        await asyncio.wait_for(told.wait(), CAP)
        assert computer.status()["configuration"]["problem"] is None
