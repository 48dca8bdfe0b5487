"""What happens between two steps of a namespace."""

from collections.abc import Callable
from typing import Any

import pytest
import socketio

from a2c_smcp.server.namespace import SMCPNamespace
from a2c_smcp.server.offices import Identity, Member
from a2c_smcp.server.registry.memory import MemoryRegistry
from a2c_smcp.server.registry.sync_memory import SyncMemoryRegistry
from a2c_smcp.server.sync_namespace import SyncSMCPNamespace


def join(office: str) -> dict[str, str]:
    return {"role": "computer", "name": "c", "office_id": office}


class Hooks:
    """What another thread or task does after a step, once."""

    def __init__(self) -> None:
        super().__init__()
        self.acts: dict[str, Callable[[], Any]] = {}

    def after(self, step: str) -> Any:
        act = self.acts.pop(step, None)
        return act() if act is not None else None


class Blocking(Hooks, SyncMemoryRegistry):
    """A registry at whose steps other threads come in."""

    def add_member(self, member: Member) -> None:
        super().add_member(member)
        self.after("add")

    def remove_member(self, member: Member) -> None:
        super().remove_member(member)
        self.after("remove")


class Waiting(Hooks, MemoryRegistry):
    """A registry at whose steps other tasks come in."""

    async def add_member(self, member: Member) -> None:
        await super().add_member(member)
        if (work := self.after("add")) is not None:
            await work

    async def remove_member(self, member: Member) -> None:
        await super().remove_member(member)
        if (work := self.after("remove")) is not None:
            await work


@pytest.mark.rule("1.6.told")
@pytest.mark.parametrize("step", ["add", "remove"])
def test_a_client_of_a_blocking_server_that_goes_while_it_is_seated_leaves_no_name_behind(step: str) -> None:
    registry = Blocking()
    namespace = SyncSMCPNamespace(registry=registry)
    socketio.Server(async_mode="threading").register_namespace(namespace)
    namespace.router.connect("s", Identity(), address="", version=None)
    assert namespace.trigger_event("server:join_office", "s", join("first")) == (True, None)
    registry.acts[step] = lambda: namespace._disconnect("s")
    assert namespace.trigger_event("server:join_office", "s", join("second")) == (False, "disconnected")
    assert namespace.router.offices == {}
    assert [registry.members(office) for office in ("first", "second")] == [[], []]


@pytest.mark.rule("1.6.told")
@pytest.mark.parametrize("step", ["add", "remove"])
async def test_a_client_that_goes_while_it_is_seated_leaves_no_name_behind(step: str) -> None:
    registry = Waiting()
    namespace = SMCPNamespace(registry=registry)
    socketio.AsyncServer(async_mode="asgi").register_namespace(namespace)
    namespace.router.connect("s", Identity(), address="", version=None)
    assert await namespace.trigger_event("server:join_office", "s", join("first")) == (True, None)
    registry.acts[step] = lambda: namespace._disconnect("s")
    assert await namespace.trigger_event("server:join_office", "s", join("second")) == (False, "disconnected")
    assert namespace.router.offices == {}
    assert [await registry.members(office) for office in ("first", "second")] == [[], []]
