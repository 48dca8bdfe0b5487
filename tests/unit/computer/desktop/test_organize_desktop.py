"""The desktop: which windows are shown, in which order, and how they are rendered."""

import logging
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.desktop import DesktopWindow, organize_desktop
from a2c_smcp.computer.types import ToolCallRecord
from a2c_smcp.uris import parse_window_uri


def text(value: object = "text") -> dict[str, Any]:
    return {"uri": "window://any", "mimeType": "text/plain", "text": value}


def blob() -> dict[str, Any]:
    return {"uri": "window://any", "mimeType": "image/png", "blob": "AAAA"}


def window(uri: str, server: str = "server", contents: Any = None, **more: Any) -> DesktopWindow:
    return DesktopWindow(server, uri, [text("")] if contents is None else contents, **more)


def uris(*windows: DesktopWindow, **options: Any) -> list[str]:
    """What is shown, with no text in the way."""
    return organize_desktop(windows, **options)


def call(server: str) -> ToolCallRecord:
    return {
        "timestamp": "2026-02-14T10:30:01Z",
        "req_id": "req-001",
        "server": server,
        "tool": "open",
        "parameters": {},
        "timeout": 30.0,
        "success": True,
        "error": None,
    }


@pytest.mark.rule("6.3.render")
def test_the_example_of_the_specification() -> None:
    windows = [
        window("window://com.example.logger", "logger", [text("[2026-02-14 10:30:01] INFO: 操作完成")]),
        window("window://com.example.browser/main?priority=80", "browser", [text("<html>当前页面内容...</html>")]),
    ]

    assert organize_desktop(windows) == [
        "window://com.example.browser/main?priority=80\n\n<html>当前页面内容...</html>",
        "window://com.example.logger\n\n[2026-02-14 10:30:01] INFO: 操作完成",
    ]


def test_no_windows_are_an_empty_desktop() -> None:
    assert organize_desktop([]) == []


class TestDropping:
    @pytest.mark.rule("6.3.drop")
    @pytest.mark.parametrize("contents", [[], (), [blob()], [blob(), blob()]], ids=["list", "tuple", "blob", "blobs"])
    def test_windows_without_text_are_dropped(self, contents: Any) -> None:
        assert uris(window("window://a", contents=contents), window("window://b")) == ["window://b"]

    @pytest.mark.rule("6.3.drop")
    @pytest.mark.parametrize(
        "uri",
        ["", "http://a", "window://", "window://a?priority=101", "window://a?fullscreen=maybe", "window:a", "\ud800"],
    )
    def test_windows_with_an_invalid_uri_are_dropped(self, uri: str) -> None:
        assert uris(window(uri), window("window://b")) == ["window://b"]

    @pytest.mark.parametrize(
        "contents",
        [
            None,
            "text",
            b"text",
            7,
            {"text": "x"},
            [None],
            ["text"],
            [7],
            [[]],
            [{}],
            [text(None)],
            [text(7)],
            [text([])],
        ],
        ids=repr,
    )
    def test_contents_of_a_foreign_shape_are_dropped(self, contents: Any) -> None:
        assert organize_desktop([DesktopWindow("server", "window://a", contents)]) == []

    def test_sound_items_among_foreign_ones_are_shown(self) -> None:
        contents = [None, text("one"), {"text": 7}, "junk", text("two")]

        assert organize_desktop([window("window://a", contents=contents)]) == ["window://a\n\none\n\ntwo"]

    def test_binary_contents_are_logged_without_their_data(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            organize_desktop([window("window://a", contents=[blob()])])

        assert [(record.getMessage(), vars(record)["server"]) for record in caplog.records] == [
            ("binary contents not shown on the desktop: uri=window://a", "server")
        ]

    def test_texts_alone_are_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        organize_desktop([window("window://a")])

        assert caplog.records == []


class TestServers:
    @pytest.mark.rule("6.3.servers")
    def test_the_server_called_last_comes_first_and_the_uncalled_follow_by_name(self) -> None:
        windows = [window(f"window://{server}", server) for server in ("d", "b", "c", "a")]
        history = [call("b"), call("gone"), call("c"), call("b"), call("c")]

        assert uris(*windows, history=history) == ["window://c", "window://b", "window://a", "window://d"]

    @pytest.mark.rule("6.3.servers")
    def test_the_windows_of_a_server_stay_together(self) -> None:
        windows = [window("window://h/1", "b"), window("window://h/2", "a"), window("window://h/3", "b")]

        assert uris(*windows) == ["window://h/2", "window://h/1", "window://h/3"]

    @pytest.mark.rule("6.3.servers")
    def test_servers_are_told_apart_by_name_and_not_by_the_host_of_the_uri(self) -> None:
        windows = [window("window://a?priority=1", "z"), window("window://a?priority=2", "y")]

        assert uris(*windows, history=["z"]) == ["window://a?priority=1", "window://a?priority=2"]


class TestPriority:
    @pytest.mark.rule("6.3.priority")
    def test_a_higher_priority_comes_first(self) -> None:
        windows = [window(f"window://h/{p}?priority={p}") for p in (5, 100, 50)]

        assert uris(*windows) == ["window://h/100?priority=100", "window://h/50?priority=50", "window://h/5?priority=5"]

    @pytest.mark.rule("6.3.priority")
    def test_the_default_priority_is_zero_and_ties_keep_resource_order(self) -> None:
        windows = [window(f"window://h/{rest}") for rest in ("b?priority=0", "a", "c?x=1", "d?priority=1")]

        assert uris(*windows) == [f"window://h/{rest}" for rest in ("d?priority=1", "b?priority=0", "a", "c?x=1")]

    @pytest.mark.rule("6.3.priority")
    def test_priorities_count_only_within_a_server(self) -> None:
        windows = [window("window://b?priority=100", "b"), window("window://a?priority=1", "a")]

        assert uris(*windows) == ["window://a?priority=1", "window://b?priority=100"]


class TestFullscreen:
    @pytest.mark.rule("6.3.fullscreen")
    def test_only_the_first_fullscreen_window_in_resource_order_is_shown(self) -> None:
        windows = [
            window("window://h/plain?priority=100"),
            window("window://h/first?fullscreen=true&priority=1"),
            window("window://h/second?fullscreen=on&priority=99"),
        ]

        assert uris(*windows) == ["window://h/first?fullscreen=true&priority=1"]

    @pytest.mark.rule("6.3.fullscreen")
    def test_each_server_has_its_own_fullscreen_window(self) -> None:
        windows = [
            window("window://a/1?fullscreen=1", "a"),
            window("window://a/2", "a"),
            window("window://b/1", "b"),
            window("window://b/2", "b"),
            window("window://c/1", "c"),
            window("window://c/2?fullscreen=yes", "c"),
        ]

        assert uris(*windows) == [
            "window://a/1?fullscreen=1",
            "window://b/1",
            "window://b/2",
            "window://c/2?fullscreen=yes",
        ]

    @pytest.mark.rule("6.3.fullscreen")
    @pytest.mark.parametrize("word", ["false", "0", "no", "off", "FALSE"])
    def test_a_window_that_says_no_is_a_plain_one(self, word: str) -> None:
        windows = [window(f"window://h/1?fullscreen={word}"), window("window://h/2")]

        assert uris(*windows) == [f"window://h/1?fullscreen={word}", "window://h/2"]

    @pytest.mark.rule("6.3.fullscreen", "6.3.drop")
    @pytest.mark.parametrize("contents", [[], [blob()]], ids=["empty", "blob"])
    def test_a_fullscreen_window_that_cannot_be_shown_hides_nothing(self, contents: Any) -> None:
        windows = [window("window://h/1?fullscreen=true", contents=contents), window("window://h/2")]

        assert uris(*windows) == ["window://h/2"]


class TestSize:
    WINDOWS = tuple(window(f"window://{server}/{n}", server) for server in "ab" for n in (1, 2))

    @pytest.mark.rule("6.3.size")
    @pytest.mark.parametrize("size", [0, -1, -100])
    def test_zero_or_less_shows_nothing(self, size: int) -> None:
        assert uris(*self.WINDOWS, size=size) == []

    @pytest.mark.rule("6.3.size")
    @pytest.mark.parametrize("size", [None, 4, 5, 10**30])
    def test_no_cap_or_a_large_one_shows_all(self, size: int | None) -> None:
        assert uris(*self.WINDOWS, size=size) == ["window://a/1", "window://a/2", "window://b/1", "window://b/2"]

    @pytest.mark.rule("6.3.size")
    def test_the_cap_is_over_all_servers(self) -> None:
        assert uris(*self.WINDOWS, size=3) == ["window://a/1", "window://a/2", "window://b/1"]

    @pytest.mark.rule("6.3.size", "6.3.fullscreen")
    def test_the_cap_counts_what_is_shown_and_not_what_fullscreen_hides(self) -> None:
        fullscreen = window("window://a/3?fullscreen=true", "a")

        assert uris(*self.WINDOWS, fullscreen, size=2) == ["window://a/3?fullscreen=true", "window://b/1"]


class TestRendering:
    @pytest.mark.rule("6.3.render")
    def test_texts_are_joined_by_blank_lines_and_blobs_are_passed_over(self) -> None:
        contents = [text("one"), blob(), text("two\n"), text("三")]

        assert organize_desktop([window("window://h", contents=contents)]) == ["window://h\n\none\n\ntwo\n\n\n三"]

    @pytest.mark.rule("6.3.render")
    @pytest.mark.parametrize("contents", [[text("")], [text(""), text("")], [text(""), blob()]])
    def test_empty_texts_leave_the_bare_uri(self, contents: Any) -> None:
        assert organize_desktop([window("window://h", contents=contents)]) == ["window://h"]

    def test_an_empty_text_beside_others_keeps_its_place(self) -> None:
        contents = [text("one"), text(""), text("two")]

        assert organize_desktop([window("window://h", contents=contents)]) == ["window://h\n\none\n\n\n\ntwo"]

    @pytest.mark.rule("6.3.render")
    def test_the_uri_is_shown_as_the_server_wrote_it(self) -> None:
        uri = "WINDOW://Com.Example/src%2fmain?priority=007"

        assert organize_desktop([window(uri)]) == [uri]


class TestOneWindow:
    @pytest.mark.rule("6.4")
    def test_the_filter_takes_the_exact_uri(self) -> None:
        windows = [window("window://h/1"), window("window://h/1?priority=1"), window("window://h/10")]

        assert uris(*windows, window="window://h/1") == ["window://h/1"]

    @pytest.mark.rule("6.4")
    @pytest.mark.parametrize("wanted", ["window://h/none", "window://H/1", "http://h", "no uri", ""])
    def test_no_match_is_an_empty_desktop(self, wanted: str) -> None:
        assert uris(window("window://h/1"), window=wanted) == []

    @pytest.mark.rule("6.4")
    def test_it_filters_before_fullscreen_and_size_count(self) -> None:
        windows = [window("window://h/1?fullscreen=true"), window("window://h/2")]

        assert uris(*windows, window="window://h/2", size=1) == ["window://h/2"]

    @pytest.mark.rule("6.4")
    def test_two_servers_with_one_uri_both_answer(self) -> None:
        windows = [window("window://h", "b", [text("B")]), window("window://h", "a", [text("A")])]

        assert uris(*windows, window="window://h", history=["b"]) == ["window://h\n\nB", "window://h\n\nA"]


class TestAnnotations:
    @pytest.mark.rule("6.5")
    def test_a_priority_counts_on_the_scale_of_the_uri(self) -> None:
        windows = [
            window("window://h/1?priority=28"),
            window("window://h/2", annotations={"priority": 0.29}),
            window("window://h/3?priority=29"),
            window("window://h/4", annotations={"priority": 0.295}),
            window("window://h/5", annotations={"priority": 1}),
        ]

        assert uris(*windows) == [
            "window://h/5",
            "window://h/4",
            "window://h/2",
            "window://h/3?priority=29",
            "window://h/1?priority=28",
        ]

    @pytest.mark.rule("6.5")
    @pytest.mark.parametrize("query", ["priority=1", "fullscreen=false", "tab=2"])
    def test_a_uri_with_any_query_speaks_for_itself(self, query: str) -> None:
        quiet = window(f"window://h/2?{query}", annotations={"priority": 1.0}, meta={"fullscreen": True})

        assert uris(window("window://h/1?priority=2"), quiet) == ["window://h/1?priority=2", quiet.uri]

    @pytest.mark.rule("6.5")
    def test_an_empty_query_is_none(self) -> None:
        loud = window("window://h/2?", annotations={"priority": 1.0})

        assert uris(window("window://h/1"), loud) == ["window://h/2?", "window://h/1"]

    @pytest.mark.rule("6.5")
    @pytest.mark.parametrize(
        "priority",
        [-0.1, 1.01, 80, 10**400, math.nan, math.inf, -math.inf, True, "1", "0.5", None, [1], {}],
        ids=lambda value: repr(value)[:20],
    )
    def test_a_priority_that_is_no_number_from_0_to_1_is_absent(self, priority: object) -> None:
        windows = [window("window://h/1"), window("window://h/2", annotations={"priority": priority})]

        assert uris(*windows, window("window://h/3?priority=1")) == [
            "window://h/3?priority=1",
            "window://h/1",
            "window://h/2",
        ]

    @pytest.mark.rule("6.5")
    @pytest.mark.parametrize("fullscreen", [True, "true", "1", "yes", "on", "TRUE", "Yes"])
    def test_fullscreen_in_the_meta_counts(self, fullscreen: object) -> None:
        assert uris(window("window://h/1"), window("window://h/2", meta={"fullscreen": fullscreen})) == ["window://h/2"]

    @pytest.mark.rule("6.5")
    @pytest.mark.parametrize(
        "fullscreen",
        [False, "false", "0", "no", "off", "", " true", "ye\u017f", "maybe", 1, 1.0, None, ["true"], {}],
        ids=ascii,
    )
    def test_fullscreen_in_the_meta_that_is_no_or_unreadable_does_not(self, fullscreen: object) -> None:
        windows = [window("window://h/1"), window("window://h/2", meta={"fullscreen": fullscreen})]

        assert uris(*windows) == ["window://h/1", "window://h/2"]

    @given(st.sampled_from(["true", "1", "yes", "on", "false", "0", "no", "off"]), st.data())
    def test_uri_and_meta_read_the_same_words(self, word: str, data: st.DataObject) -> None:
        word = "".join(data.draw(st.sampled_from([letter, letter.upper()])) for letter in word)
        windows = [window("window://h/1"), window("window://h/2", meta={"fullscreen": word})]

        assert (uris(*windows) == ["window://h/2"]) is parse_window_uri(f"window://h?fullscreen={word}").fullscreen

    @pytest.mark.rule("6.5")
    @pytest.mark.parametrize("junk", [None, [], "priority", 7, {}], ids=repr)
    def test_annotations_and_meta_of_a_foreign_shape_are_absent(self, junk: Any) -> None:
        windows = [window("window://h/1"), window("window://h/2", annotations=junk, meta=junk)]

        assert uris(*windows) == ["window://h/1", "window://h/2"]


SERVERS = st.sampled_from(["a", "b", "c"])
WINDOWS = st.lists(
    st.builds(
        window,
        st.sampled_from(["window://h", "window://h/1", "window://h?priority=9", "window://h?fullscreen=on", "bad"]),
        SERVERS,
        st.lists(st.sampled_from([text("x"), text(""), blob(), {}]), max_size=2),
        annotations=st.none() | st.fixed_dictionaries({"priority": st.floats()}),
        meta=st.none() | st.fixed_dictionaries({"fullscreen": st.booleans()}),
    ),
    max_size=12,
)


@given(WINDOWS, st.integers(1, 15), st.lists(SERVERS))
def test_a_capped_desktop_is_the_beginning_of_the_whole(
    windows: list[DesktopWindow], size: int, history: list[str]
) -> None:
    assert organize_desktop(windows, size, history) == organize_desktop(windows, None, history)[:size]


@given(WINDOWS, st.lists(SERVERS))
def test_the_desktop_is_what_each_server_shows_one_after_the_other(
    windows: list[DesktopWindow], history: list[str]
) -> None:
    by_server = {name: organize_desktop([w for w in windows if w.server == name]) for name in "abc"}
    called = list(dict.fromkeys(reversed(history)))
    order = called + sorted(set("abc") - set(called))

    assert organize_desktop(windows, history=history) == [shown for name in order for shown in by_server[name]]
