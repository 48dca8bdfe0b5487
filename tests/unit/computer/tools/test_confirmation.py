"""Asking the owner."""

import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.config.models import ToolMeta
from a2c_smcp.computer.tools.catalogue import Route
from a2c_smcp.computer.tools.completed_calls import CallKey
from a2c_smcp.computer.tools.confirmation import Confirmation, ConsentPolicy, Decision, StandingConsent, refusal
from a2c_smcp.computer.tools.definition import Definition, fingerprint
from a2c_smcp.errors import ConfirmationRequired
from tests.unit.computer.tools.fakes import config

KEY = CallKey("office", "agent", "r1")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)


def route(auto_apply: bool | None = None, **fields: Any) -> Route:
    return Route("fs", "rm", "delete", "fs__rm", config("fs", **fields), ToolMeta(auto_apply=auto_apply))


def defined(tool: dict[str, Any], auto_apply: bool | None = None) -> Route:
    return replace(route(auto_apply), definition=Definition(tool))


class Owner:
    """Answers as told, and remembers the questions."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Confirmation] = []

    async def __call__(self, confirmation: Confirmation) -> Decision | None:
        self.asked.append(confirmation)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        given: Decision | None = answer
        return given


async def reason(gate: ConsentPolicy, arguments: dict[str, Any] | None = None) -> Any:
    with pytest.raises(ConfirmationRequired) as caught:
        await gate.ask(route(), KEY, arguments or {}, 30)
    assert caught.value.details is not None
    return caught.value.details["reason"]


@pytest.mark.rule("4.4")
def test_auto_apply_opens_the_gate_for_the_definition_that_was_seen() -> None:
    gate, tool = ConsentPolicy(), {"name": "rm", "description": "Removes a file."}
    gate.auto_apply.see([defined(tool, auto_apply=True)])
    assert gate.is_allowed(defined(dict(tool), auto_apply=True), KEY)
    assert not gate.is_allowed(defined(tool | {"description": "Removes everything."}, auto_apply=True), KEY)


@pytest.mark.rule("4.4")
async def test_a_tool_that_changed_is_asked_about_and_always_accepts_it() -> None:
    owner = Owner(Decision.ONCE, Decision.ALWAYS)
    gate, before = ConsentPolicy(owner), {"name": "rm", "description": "Removes a file."}
    now = defined(before | {"description": "Removes everything."}, auto_apply=True)
    gate.auto_apply.see([defined(before, auto_apply=True)])
    await gate.ask(now, KEY, {}, 30)
    assert owner.asked[0].description == "Removes everything."
    assert owner.asked[0].changes == ("description:", "- Removes a file.", "+ Removes everything.")
    assert not gate.is_allowed(now, KEY)
    await gate.ask(now, KEY, {}, 30)
    assert gate.is_allowed(now, KEY)
    assert not gate.is_allowed(defined(before, auto_apply=True), KEY)


@pytest.mark.rule("4.4")
async def test_always_ends_when_the_definition_changes_and_the_question_shows_how() -> None:
    owner = Owner(Decision.ALWAYS, Decision.REFUSE)
    gate, before = ConsentPolicy(owner), {"name": "rm", "annotations": {"destructiveHint": False}}
    now = defined(before | {"annotations": {"destructiveHint": True}})
    await gate.ask(defined(before), KEY, {}, 30)
    assert gate.is_allowed(defined(before), KEY)
    assert not gate.is_allowed(now, KEY)
    with pytest.raises(ConfirmationRequired):
        await gate.ask(now, KEY, {}, 30)
    assert owner.asked[1].changes == (
        "annotations:",
        "  {",
        '-   "destructiveHint": false',
        '+   "destructiveHint": true',
        "  }",
    )


@pytest.mark.rule("4.4")
async def test_with_nobody_to_ask_the_refusal_says_what_changed() -> None:
    gate, before = ConsentPolicy(), {"name": "rm", "description": "a"}
    gate.auto_apply.see([defined(before, auto_apply=True)])
    with pytest.raises(ConfirmationRequired) as caught:
        await gate.ask(defined(before | {"description": "b"}, auto_apply=True), KEY, {}, 30)
    assert "changed since its owner allowed it (description)" in caught.value.message
    assert (caught.value.details or {})["changed"] == ["description"]


@pytest.mark.rule("4.4")
@pytest.mark.parametrize("auto_apply", [False, None])
def test_without_auto_apply_the_gate_is_closed(auto_apply: bool | None) -> None:
    assert not ConsentPolicy().is_allowed(route(auto_apply=auto_apply), KEY)


@pytest.mark.rule("4.4")
async def test_the_question_shows_the_exact_arguments() -> None:
    owner = Owner(Decision.ONCE)
    await ConsentPolicy(owner).ask(route(), KEY, {"path": "a"}, 30)
    mark = fingerprint("fs", "rm", {"path": "a"})
    assert owner.asked == [Confirmation("fs", "rm", "delete", {"path": "a"}, "agent", "r1", mark, 30)]


@pytest.mark.rule("4.4")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Decision.REFUSE, "refused"),
        (None, "nobody"),
        (False, "refused"),
        (1, "refused"),
        ("once", "refused"),
        (ConnectionError("gone"), "nobody"),
    ],
)
async def test_whatever_is_not_a_yes_is_a_no(answer: Any, why: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    assert await reason(ConsentPolicy(Owner(answer))) == why


@pytest.mark.rule("4.4")
async def test_with_nobody_to_ask_the_call_is_refused() -> None:
    assert await reason(ConsentPolicy()) == "nobody"


@pytest.mark.rule("4.4")
def test_the_refusal_says_how_to_allow_the_tool() -> None:
    error = refusal(route(), "expired", 30)
    assert error.code == 4005
    assert error.message == (
        "The tool 'delete' needs a confirmation and nobody answered within 30 s. To allow it without asking, set "
        "auto_apply: true in tool_meta['rm'] of the MCP server 'fs'."
    )
    assert error.details == {"tool_name": "delete", "mcp_server": "fs", "reason": "expired"}


@pytest.mark.parametrize("yes", [Decision.ONCE, True])
async def test_an_answer_holds_once(yes: Any) -> None:
    gate = ConsentPolicy(Owner(yes))
    await gate.ask(route(), KEY, {}, 30)
    assert not gate.is_allowed(route(), KEY)


async def test_always_holds_for_this_tool_and_this_agent() -> None:
    gate = ConsentPolicy(Owner(Decision.ALWAYS))
    await gate.ask(route(), KEY, {"path": "a"}, 30)
    assert gate.standing() == [StandingConsent("office", "agent", "fs", "rm")]
    assert gate.is_allowed(route(), CallKey("office", "agent", "r2"))
    assert not gate.is_allowed(route(), CallKey("office", "other", "r2"))
    assert not gate.is_allowed(route(), CallKey("elsewhere", "agent", "r2"))


async def test_always_ends_when_the_server_is_configured_otherwise() -> None:
    gate = ConsentPolicy(Owner(Decision.ALWAYS))
    await gate.ask(route(), KEY, {}, 30)
    assert not gate.is_allowed(route(forbidden_tools=["x"]), KEY)


@pytest.mark.parametrize("which", [(), (StandingConsent("office", "agent", "fs", "rm"),)])
async def test_always_can_be_taken_back(which: tuple[StandingConsent, ...]) -> None:
    gate = ConsentPolicy(Owner(Decision.ALWAYS))
    await gate.ask(route(), KEY, {}, 30)
    gate.withdraw(*which)
    assert gate.standing() == []
    assert not gate.is_allowed(route(), KEY)


async def test_changing_what_was_shown_changes_nothing() -> None:
    arguments = {"paths": ["a"]}

    async def meddle(confirmation: Confirmation) -> Decision:
        confirmation.arguments["paths"].append("b")
        return Decision.ONCE

    await ConsentPolicy(meddle).ask(route(), KEY, arguments, 30)
    assert arguments == {"paths": ["a"]}


@pytest.mark.rule("4.4")
async def test_a_yes_is_worth_nothing_for_other_arguments() -> None:
    arguments = {"paths": ["a"]}

    async def swap(_: Confirmation) -> Decision:
        arguments["paths"].append("b")
        return Decision.ALWAYS

    gate = ConsentPolicy(swap)
    assert await reason(gate, arguments) == "refused"
    assert gate.standing() == []


async def test_an_answer_that_nobody_waits_for_counts_for_nothing() -> None:
    gate = ConsentPolicy(Owner(Decision.ALWAYS))
    with pytest.raises(ConfirmationRequired, match="nobody answered"):
        await gate.ask(route(), KEY, {}, 30, lambda: False)
    assert gate.standing() == []


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_fingerprint_does_not_depend_on_the_order_of_keys(value: dict[str, Any]) -> None:
    assert fingerprint(dict(reversed(value.items()))) == fingerprint(value)


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), ("1", 1), (["a", "b"], ["b", "a"]), ({"a": None}, {}), ("a", "á")]
)
def test_a_fingerprint_differs_where_the_json_differs(one: Any, other: Any) -> None:
    assert fingerprint(one) != fingerprint(other)
