"""Changes that lie over a file."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer import ComputerConfig, MCPServerConfig, MCPServerInput
from a2c_smcp.computer.config.edits import ConfigEdit
from tests.unit.computer.inputs.builders import prompt, stdio


def config(*servers: MCPServerConfig, inputs: list[MCPServerInput] | None = None) -> ComputerConfig:
    return ComputerConfig(servers={server.name: server for server in servers}, inputs=inputs or [])


BASE = config(stdio("1", name="a"), stdio("1", name="b"), inputs=[prompt("i"), prompt("j")])


def test_an_edit_keeps_places_and_adds_at_the_end() -> None:
    edit = ConfigEdit(
        servers={"new": stdio(name="new"), "a": stdio("2", name="a")}, inputs={"k": prompt("k"), "i": prompt("i", "X")}
    )
    edited = edit.over(BASE)
    assert list(edited.servers.items()) == [
        ("a", stdio("2", name="a")),
        ("b", stdio("1", name="b")),
        ("new", stdio(name="new")),
    ]
    assert edited.inputs == [prompt("i", "X"), prompt("j"), prompt("k")]


def test_an_edit_removes() -> None:
    edited = ConfigEdit(servers={"a": None, "nobody": None}, inputs={"i": None}).over(BASE)
    assert edited == config(stdio("1", name="b"), inputs=[prompt("j")])


def test_an_edit_disables_what_is_there() -> None:
    edited = ConfigEdit(disabled={"a": True, "nobody": True}).over(BASE)
    assert edited == config(stdio("1", name="a", disabled=True), stdio("1", name="b"), inputs=[*BASE.inputs])


def test_a_server_that_is_set_anew_is_as_it_is_set() -> None:
    edit = ConfigEdit(disabled={"a": True}).then(ConfigEdit(servers={"a": stdio("2", name="a")}))
    assert edit == ConfigEdit(servers={"a": stdio("2", name="a")})


def test_what_is_saved_is_no_edit_any_more() -> None:
    edit = ConfigEdit({"a": None, "b": stdio(name="b")}, {"c": True, "d": True}, {"i": None, "j": prompt("j")})
    saved = ConfigEdit({"a": None}, {"c": True}, {"i": None})
    assert edit.without(saved) == ConfigEdit({"b": stdio(name="b")}, {"d": True}, {"j": prompt("j")})


def test_a_flag_over_a_server_that_is_not_saved_stays() -> None:
    edit = ConfigEdit({"a": stdio("2", name="a")}, {"a": True})
    assert edit.without(ConfigEdit(disabled={"a": True})) == edit


def test_a_whole_configuration_is_an_edit_too() -> None:
    assert ConfigEdit.of(BASE).over(ComputerConfig()) == BASE


NAMES = st.sampled_from("abc")
SERVERS = st.builds(
    lambda name, arg, off: stdio(arg, name=name, disabled=off), NAMES, st.sampled_from("12"), st.booleans()
)
CONFIGS = st.lists(SERVERS, unique_by=lambda server: server.name).map(lambda servers: config(*servers))
EDITS = st.builds(
    lambda servers, gone, flags, inputs: ConfigEdit(
        {**{server.name: server for server in servers}, **dict.fromkeys(gone)}, flags, inputs
    ),
    st.lists(SERVERS),
    st.lists(NAMES, max_size=1),
    st.dictionaries(NAMES, st.booleans()),
    st.dictionaries(st.just("i"), st.sampled_from([None, prompt("i")])),
)


@given(CONFIGS, EDITS, EDITS)
def test_two_edits_are_one(base: ComputerConfig, first: ConfigEdit, second: ConfigEdit) -> None:
    assert first.then(second).over(base) == second.over(first.over(base))


@given(CONFIGS, EDITS)
def test_an_edit_that_is_saved_leaves_the_same_configuration(base: ComputerConfig, edit: ConfigEdit) -> None:
    assert edit.without(edit).over(edit.over(base)) == edit.over(base)


@given(CONFIGS, EDITS)
def test_an_edit_twice_is_the_edit(base: ComputerConfig, edit: ConfigEdit) -> None:
    assert edit.over(edit.over(base)) == edit.over(base)
