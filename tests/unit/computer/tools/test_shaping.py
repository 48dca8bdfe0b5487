"""Results in the caller's form, beside the original."""

import json
import sys
from typing import Any

import pytest

from a2c_smcp.computer.config.models import ToolMeta
from a2c_smcp.computer.tools import shaping
from a2c_smcp.computer.tools.catalogue import Route
from a2c_smcp.computer.tools.shaping import (
    MAX_EXPRESSION,
    MAX_INLINE,
    MAX_RESULT,
    TOO_LARGE,
    Shaper,
    check_mapper,
    compile_expression,
    map_result,
    source_of,
)
from a2c_smcp.computer.tools.vrl import VrlError, VrlRunner
from tests.unit.computer.tools.fakes import config

ITEMS = {"items": [{"name": "a", "price": 1}, {"name": "b", "price": 20}], "total": 2}


class Script(VrlRunner):
    """Runs a Python function in the place of a script."""

    def __init__(self, answer: str | Exception = "{}") -> None:
        super().__init__()
        self.answer = answer
        self.ran: list[tuple[str, dict[str, Any]]] = []

    async def run(self, script: str, event: dict[str, Any]) -> str:
        self.ran.append((script, event))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def route(mapper: dict[str, Any] | None = None, vrl: str | None = None) -> Route:
    return Route("s", "t", "alias", "s__t", config("s", vrl=vrl), ToolMeta(ret_object_mapper=mapper))


def result(structured: Any = None, text: str = "hello", *, failed: bool = False) -> dict[str, Any]:
    made: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": failed}
    return made if structured is None else made | {"structuredContent": structured}


async def shaped(given: dict[str, Any], where: Route, script: Script | None = None) -> Any:
    shaper = Shaper(script)
    made = await shaper.shape(given, where, {"q": 1})
    await shaper.aclose()
    meta = made.pop("meta", {})
    assert made == {key: value for key, value in given.items() if key != "meta"}
    return meta


@pytest.mark.rule("4.5")
@pytest.mark.parametrize(
    ("mapper", "mapped"),
    [
        ({"n": "total"}, {"n": 2}),
        ({"names": "items[].name"}, {"names": ["a", "b"]}),
        ({"dear": "items[?price > `10`].{what: name}"}, {"dear": [{"what": "b"}]}),
        ({"gone": "nothing.here"}, {"gone": None}),
        ({"n": "structuredContent.total", "failed": "isError"}, {"n": 2, "failed": False}),
        ({"nested": {"n": "total", "list": ["total", 7]}}, {"nested": {"n": 2, "list": [2, 7]}}),
        ({"constant": 1, "yes": True, "null": None}, {"constant": 1, "yes": True, "null": None}),
        ({}, {}),
    ],
)
def test_fields_come_under_the_callers_names(mapper: dict[str, Any], mapped: Any) -> None:
    assert map_result(mapper, result(ITEMS)) == (mapped, None)


@pytest.mark.parametrize(
    ("given", "source"),
    [
        (result({"a": 1}, '{"b": 2}'), {"a": 1}),
        (result(None, ' {"b": 2}'), {"b": 2}),
        (result(None, "[1]"), [1]),
        (result(None, "12"), {"content": [{"type": "text", "text": "12"}]}),
        (result(None, "{broken"), {"content": [{"type": "text", "text": "{broken"}]}),
        ({"content": []}, {"content": []}),
        (
            {"content": [{"type": "image", "data": ""}, {"type": "text", "text": "{}"}, {"type": "text", "text": "x"}]},
            {},
        ),
        ({"content": ["odd", {"type": "text"}]}, {"content": ["odd", {"type": "text"}]}),
    ],
)
def test_expressions_look_into_what_is_most_structured(given: Any, source: Any) -> None:
    assert source_of(given) == source


def test_json_nested_without_end_is_only_text() -> None:
    deep = "[" * 200_000
    assert source_of(result(None, deep)) == {"content": [{"type": "text", "text": deep}]}


@pytest.mark.rule("4.5")
def test_an_expression_that_fails_loses_nothing_else() -> None:
    mapped, error = map_result({"n": "total", "bad": "abs(items)", "worse": "a["}, result(ITEMS))
    assert mapped == {"n": 2, "bad": None, "worse": None}
    assert error is not None
    first, second = error.split("; ")
    assert first.startswith("bad: In function abs(), invalid type for value")
    assert second == 'worse: Invalid jmespath expression: Incomplete expression: "a[" ^'


@pytest.mark.parametrize(
    ("mapper", "fault"),
    [
        ({"a": "b.c", "d": 1}, None),
        ({"a": {"b": ["x", ""]}}, "a/b/1: Invalid JMESPath expression: cannot be empty."),
        ({"a": "x" * (MAX_EXPRESSION + 1)}, "a: the expression is longer than 4096 characters"),
        ({"a": "(" * 4000}, "a: maximum recursion depth exceeded"),
        (
            {"a": [[[[[[[[["x"]]]]]]]]]},
            "a/0/0/0/0/0/0/0: nested deeper than 8",
        ),
    ],
)
def test_a_mapper_is_checked_when_it_is_configured(mapper: dict[str, Any], fault: str | None) -> None:
    found = check_mapper(mapper)
    assert found == fault or (fault is not None and found is not None and found.startswith(fault))


def test_only_some_of_many_faults_are_told() -> None:
    fault = check_mapper({str(number): "a[" for number in range(100)})
    assert fault is not None
    assert fault.count(";") == 9


def test_a_missing_library_is_told_with_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jmespath", None)
    compile_expression.cache_clear()
    hint = "pip install '.[computer]' in the checkout of this project"
    assert check_mapper({"a": "b"}) == f"a: ret_object_mapper needs an extra: {hint}"


@pytest.mark.rule("4.5")
async def test_what_was_mapped_goes_into_meta_as_json_text() -> None:
    given = result({"name": "表"}) | {"meta": {"own": 1}}
    assert await shaped(given, route({"title": "name"})) == {"own": 1, "a2c_ret_object_mapper": '{"title": "表"}'}


@pytest.mark.rule("4.5")
async def test_a_failing_expression_is_told_in_meta() -> None:
    meta = await shaped(result({"name": "x"}), route({"title": "name", "bad": "a["}))
    assert json.loads(meta["a2c_ret_object_mapper"]) == {"title": "x", "bad": None}
    assert meta["a2c_ret_object_mapper_error"].startswith("bad: Invalid jmespath expression")


async def test_a_large_result_is_mapped_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    given = result({"text": "x" * MAX_INLINE})
    assert await shaped(given, route({"n": "length(text)"})) == {"a2c_ret_object_mapper": f'{{"n": {MAX_INLINE}}}'}


async def test_half_a_character_is_escaped_so_that_it_can_be_sent() -> None:
    meta = await shaped(result(None, '{"a": "\\ud800"}'), route({"x": "a"}))
    assert meta == {"a2c_ret_object_mapper": '{"x": "\\ud800"}'}


@pytest.mark.parametrize(
    ("expression", "told"),
    [("to_number('nan')", "what the mapper made is not JSON"), ("&a", "what the mapper made is not JSON")],
)
async def test_what_is_not_json_is_told(expression: str, told: str) -> None:
    assert await shaped(result({}), route({"x": expression})) == {"a2c_ret_object_mapper_error": told}


async def test_an_expression_that_repeats_without_end_is_stopped() -> None:
    doubling = "|".join(["[@,@]"] * 40)
    meta = await shaped(result({"a": 1}), route({"x": doubling}))
    assert meta == {"a2c_ret_object_mapper_error": "what the mapper made is larger than 4 MiB"}


@pytest.mark.rule("4.5")
async def test_a_script_sees_the_result_and_the_call() -> None:
    script = Script('{"made": 1}')
    given = result({"a": 1}) | {"meta": {"own": 1}}
    meta = await shaped(given, route(vrl=".x = 1"), script)
    assert meta == {"own": 1, "a2c_vrl_transformed": '{"made": 1}'}
    event = {
        "content": given["content"],
        "structuredContent": {"a": 1},
        "isError": False,
        "meta": {"own": 1},
        "tool_name": "t",
        "parameters": {"q": 1},
    }
    assert script.ran == [(".x = 1", event)]


@pytest.mark.rule("4.5")
@pytest.mark.parametrize("error", [VrlError("it broke"), RecursionError("it broke")])
async def test_a_failing_script_loses_nothing(error: Exception) -> None:
    assert await shaped(result(), route(vrl="."), Script(error)) == {"a2c_vrl_error": "it broke"}


async def test_a_failed_tool_is_not_mapped_but_shown_to_the_script() -> None:
    meta = await shaped(result(failed=True), route({"a": "b"}, "."), Script("1"))
    assert meta == {"a2c_vrl_transformed": "1"}


async def test_too_large_a_result_stays_as_it_is() -> None:
    meta = await shaped(result(text="x" * MAX_RESULT), route({"a": "b"}, "."), Script())
    assert meta == {"a2c_ret_object_mapper_error": TOO_LARGE, "a2c_vrl_error": TOO_LARGE}


@pytest.mark.parametrize(
    ("where", "concerned"), [(route(), False), (route({}), False), (route({"a": "b"}), True), (route(vrl="."), True)]
)
async def test_most_results_need_no_shaping(where: Route, concerned: bool) -> None:
    assert Shaper().concerns(where) is concerned


@pytest.mark.rule("4.5")
async def test_a_real_script_transforms_a_real_result() -> None:
    shaper = Shaper()
    made = await shaper.shape(result({"n": 1}), route(vrl='. = {"sum": to_int!(.structuredContent.n) + 1}'), {})
    await shaper.aclose()
    assert made == result({"n": 1}) | {"meta": {"a2c_vrl_transformed": '{"sum": 2}'}}


def test_the_module_imports_no_library_of_its_own() -> None:
    assert "jmespath" not in vars(shaping)
