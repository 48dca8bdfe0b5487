"""Packets cut as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from socketio.packet import Packet

from a2c_smcp.server.packets import (
    ack_arguments,
    ack_id_of,
    ack_packet,
    event_packet,
    notification_packet,
    split_ack,
    split_request,
)
from a2c_smcp.server.payload import RawJson


@pytest.mark.parametrize(
    ("packet", "parts"),
    [
        ('2/smcp,12["client:tool_call",{"a":1}]', (12, "client:tool_call", '{"a":1}')),
        ('2/smcp,["client:get_tools",{}]', (None, "client:get_tools", "{}")),
    ],
)
def test_a_request_is_split_without_being_parsed(packet: str, parts: tuple[int | None, str, str]) -> None:
    split = split_request(packet)
    assert split is not None
    assert (split[0], split[1], split[2].text) == parts


@pytest.mark.parametrize(
    "packet",
    [
        '2/smcp,1["server:join_office",{}]',
        '2/smcp,1["client:\\u0041",{}]',
        '2/smcp,1["client:x"]',
        '2/smcp,1["client:x",{}',
        '2["client:x",{}]',
        '2/other,1["client:x",{}]',
        '3/smcp,1["client:x",{}]',
        "",
    ],
)
def test_anything_else_is_left_to_the_careful_way(packet: str) -> None:
    assert split_request(packet) is None


@given(st.integers(0, 10**9), st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_our_packets_are_those_of_the_library(number: int, data: dict[str, object]) -> None:
    payload = RawJson(json.dumps(data))
    sent = Packet(encoded_packet=event_packet("client:x", payload, number))
    assert (sent.packet_type, sent.namespace, sent.id, sent.data) == (2, "/smcp", number, ["client:x", data])
    told = Packet(encoded_packet=notification_packet("notify:x", data))
    assert (told.packet_type, told.namespace, told.id, told.data) == (2, "/smcp", None, ["notify:x", data])
    for answer in (payload, (data,)):
        packet = ack_packet(number, answer)
        acked = Packet(encoded_packet=packet)
        assert (acked.packet_type, acked.namespace, acked.id, acked.data) == (3, "/smcp", number, [data])
        split = split_ack(packet)
        assert split is not None
        assert split[0] == number
        assert json.loads(f"[{ack_arguments(split[1]).text}]") == [data]


@pytest.mark.parametrize("packet", ["3/smcp,[1]", "3/smcp,x[1]", "3/smcp,", f"3/smcp,{'9' * 30}[1]", "2/smcp,1[1]"])
def test_what_is_no_ack_has_no_number(packet: str) -> None:
    assert split_ack(packet) is None


@pytest.mark.parametrize(
    "text", ["", "{}", '"x"', "1", "null", "[", "[1,]", "[}]", "[1][2]", "[NaN]", "[1e999]", '[{"a":[-1E400]}]']
)
def test_malformed_arguments_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ack_arguments(text)


@pytest.mark.parametrize(
    ("packet", "found"),
    [
        ("2/smcp,7[", (7, False)),
        ("51-/smcp,8[", (8, False)),
        ("3/smcp,7{", (7, True)),
        ("61-/smcp,8[", (8, True)),
        ("2/smcp,[", None),
        ("2/other,7[", None),
        ("garbage", None),
    ],
)
def test_the_ack_id_is_found_in_a_broken_packet(packet: str, found: tuple[int, bool] | None) -> None:
    assert ack_id_of(packet) == found
