"""Each source of values by itself."""

import sys
import threading
from types import ModuleType

import pytest

from a2c_smcp.computer import MCPServerInput
from a2c_smcp.computer.inputs.resolution import Unresolved
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import (
    CallbackSource,
    DefaultSource,
    EnvironmentSource,
    GivenSource,
    InputSource,
    InputValue,
    KeyringSource,
    env_variable,
    ways_to,
)
from tests.unit.computer.inputs.builders import command, pick, prompt


class Store:
    """A keyring of a few lines."""

    def __init__(self, **values: str) -> None:
        self.values = values
        self.asked: list[tuple[str, str]] = []

    def get_password(self, service: str, username: str, /) -> str | None:
        self.asked.append((service, username))
        return self.values.get(username)


class BrokenStore:
    def get_password(self, service: str, username: str, /) -> str | None:
        raise RuntimeError("locked")


class SilentStore:
    """A keyring that waits for its owner for ever."""

    def __init__(self) -> None:
        self.free = threading.Event()

    def get_password(self, service: str, username: str, /) -> str | None:
        self.free.wait(10)
        return None


async def test_a_value_given_for_the_id_is_found() -> None:
    source = GivenSource({"key": Secret("a=b")})
    assert await source.find(prompt("key")) == InputValue(Secret("a=b"), "--input")
    assert await source.find(prompt("other")) is None


async def test_a_given_value_may_be_empty() -> None:
    assert await GivenSource({"key": Secret("")}).find(prompt("key")) == InputValue(Secret(""), "--input")
    assert await GivenSource({"key": "text"}).find(prompt("key")) == InputValue(Secret("text"), "--input")


@pytest.mark.parametrize(
    ("input_id", "variable"),
    [
        ("key", "A2C_INPUT_KEY"),
        ("github-token", "A2C_INPUT_GITHUB_TOKEN"),
        ("a.b c2", "A2C_INPUT_A_B_C2"),
        ("密钥", "A2C_INPUT_密钥"),
    ],
)
def test_the_variable_of_an_input_is_its_id_in_capitals(input_id: str, variable: str) -> None:
    assert env_variable(input_id) == variable


async def test_a_value_in_the_environment_is_found() -> None:
    source = EnvironmentSource({"A2C_INPUT_MY_KEY": "abc"})
    assert await source.find(prompt("my-key")) == InputValue(Secret("abc"), "the environment (A2C_INPUT_MY_KEY)")


async def test_an_empty_variable_counts_as_absent() -> None:
    assert await EnvironmentSource({"A2C_INPUT_KEY": ""}).find(prompt("key")) is None


async def test_without_a_word_the_environment_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A2C_INPUT_KEY", "abc")
    assert await EnvironmentSource().find(prompt("key")) == InputValue(Secret("abc"), "the environment (A2C_INPUT_KEY)")


async def test_a_value_in_the_keyring_is_found_under_the_name_of_the_project() -> None:
    store = Store(key="abc")
    assert await KeyringSource(store).find(prompt("key")) == InputValue(Secret("abc"), "the keyring")
    assert store.asked == [("a2c-smcp", "key")]


async def test_a_keyring_without_the_value_gives_none() -> None:
    assert await KeyringSource(Store()).find(prompt("key")) is None


async def test_a_keyring_that_fails_gives_none() -> None:
    assert await KeyringSource(BrokenStore()).find(prompt("key")) is None


async def test_a_keyring_that_never_answers_gives_none_in_the_end() -> None:
    store = SilentStore()
    assert await KeyringSource(store, timeout=0.01).find(prompt("key")) is None
    store.free.set()


async def test_the_installed_keyring_is_asked_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("keyring")
    vars(module)["get_password"] = Store(key="abc").get_password
    monkeypatch.setitem(sys.modules, "keyring", module)
    assert await KeyringSource().find(prompt("key")) == InputValue(Secret("abc"), "the keyring")


async def test_without_the_package_the_keyring_gives_none_and_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    source = KeyringSource()
    assert await source.find(prompt("key")) is None
    assert source.way(prompt("key")) == "run: pip install keyring && keyring set a2c-smcp key"


async def test_the_real_keyring_package_reads_what_it_stored() -> None:
    keyring = pytest.importorskip("keyring")
    backend = pytest.importorskip("keyring.backend")

    class Memory(backend.KeyringBackend):  # type: ignore[name-defined, misc]
        priority = -1  # used because it is set, and never found by itself
        kept: dict[tuple[str, str], str] = {}  # noqa: RUF012

        def get_password(self, service: str, username: str) -> str | None:
            return self.kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            self.kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.kept[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    try:
        keyring.set_password("a2c-smcp", "key", "abc")
        assert await KeyringSource().find(prompt("key")) == InputValue(Secret("abc"), "the keyring")
    finally:
        keyring.set_keyring(before)


async def test_the_application_is_asked_with_the_definition() -> None:
    asked: list[MCPServerInput] = []

    async def ask(wanted: MCPServerInput) -> str | None:
        asked.append(wanted)
        return "abc"

    assert await CallbackSource(ask).find(pick()) == InputValue(Secret("abc"), "the application")
    assert asked == [pick()]


async def test_an_application_may_have_no_value() -> None:
    async def ask(wanted: MCPServerInput) -> str | None:
        return None

    assert await CallbackSource(ask, "the console").find(prompt()) is None


async def test_the_application_is_not_asked_for_what_a_command_gives() -> None:
    async def ask(wanted: MCPServerInput) -> str | None:
        raise AssertionError

    assert await CallbackSource(ask).find(command("true")) is None


async def test_an_application_that_fails_is_told_without_its_words() -> None:
    async def ask(wanted: MCPServerInput) -> str | None:
        raise ValueError("the value was abc")

    with pytest.raises(Unresolved) as caught:
        await CallbackSource(ask, "the console").find(prompt())
    assert str(caught.value) == "the console failed (ValueError); see its log"
    assert caught.value.__suppress_context__


async def test_an_application_that_gives_no_text_is_told() -> None:
    async def ask(wanted: MCPServerInput) -> str | None:
        return 42  # type: ignore[return-value]

    with pytest.raises(Unresolved, match="returned a value that is not a string"):
        await CallbackSource(ask).find(prompt())


async def test_the_default_is_that_of_the_definition() -> None:
    assert await DefaultSource().find(prompt(default="abc")) == InputValue(Secret("abc"), "its default")
    assert await DefaultSource().find(prompt(default="")) == InputValue(Secret(""), "its default")
    assert await DefaultSource().find(prompt()) is None
    assert await DefaultSource().find(command("true")) is None


async def nothing(wanted: MCPServerInput) -> str | None:
    return None


def test_every_way_to_give_a_value_is_named() -> None:
    sources: list[InputSource] = [
        GivenSource({}),
        EnvironmentSource({}),
        KeyringSource(Store()),
        CallbackSource(nothing),
        DefaultSource(),
    ]
    assert ways_to(prompt("my key"), sources) == [
        "pass --input 'my key'=VALUE",
        "set A2C_INPUT_MY_KEY",
        "run: keyring set a2c-smcp 'my key'",
    ]
