"""Socket.IO packets of the namespace, split as text where nothing has to be parsed. Pure.

packet type   one digit: 2 event, 3 ack
namespace     /smcp,
id            digits, where an ack is wanted or given
data          a JSON list: ["event", payload] or [argument, ...]
"""

import re
from typing import Any, Final

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.server.payload import RawJson, check_arguments
from a2c_smcp.smcp import SMCP_NAMESPACE

EVENT: Final = f"2{SMCP_NAMESPACE},"
ACK: Final = f"3{SMCP_NAMESPACE},"

# Only names without JSON escapes; other packets take the slow path.
_ROUTED: Final = re.compile(rf'{re.escape(EVENT)}([0-9]{{0,18}})\["(client:[\w.:-]{{1,100}})",')
_ACK: Final = re.compile(rf"{re.escape(ACK)}([0-9]{{1,18}})(?![0-9])")
_ID: Final = re.compile(rf"([2356])(?:[0-9]+-)?{re.escape(SMCP_NAMESPACE)},([0-9]{{1,18}})(?![0-9])")
_ACKS: Final = ("3", "6")


def split_request(packet: str) -> tuple[int | None, str, RawJson] | None:
    """Return ack id, event name and unparsed payload of a `client:*` event with one payload; None for all others.

    The payload may still be malformed, or more than one argument; `parse_head` checks that.
    """
    match = _ROUTED.match(packet)
    if match is None or packet[-1] != "]":
        return None
    number, event = match.groups()
    return int(number) if number else None, event, RawJson(packet[match.end() : -1])


def split_ack(packet: str) -> tuple[int, str] | None:
    """Return the number of an ack and its unparsed list of arguments; None if it has no usable number."""
    match = _ACK.match(packet)
    return (int(match[1]), packet[match.end() :]) if match else None


def ack_arguments(text: str) -> RawJson:
    """Return the unparsed arguments of an ack: the text between the brackets.

    Raises:
        ValueError: The text is not a JSON list, or holds a number that is not finite.
    """
    check_arguments(text)
    return RawJson(text.strip()[1:-1].strip())


def event_packet(event: str, payload: RawJson, number: int) -> str:
    """Return an event that wants an ack, with its payload unparsed."""
    return f'{EVENT}{number}["{event}",{payload.text}]'


def notification_packet(event: str, data: Any) -> str:
    """Return an event that wants no ack."""
    return f"{EVENT}{FastJson.dumps([event, data])}"


def ack_packet(number: int, answer: RawJson | tuple[Any, ...]) -> str:
    """Return the ack of an event."""
    body = f"[{answer.text}]" if isinstance(answer, RawJson) else FastJson.dumps(list(answer))
    return f"{ACK}{number}{body}"


def ack_id_of(packet: str) -> tuple[int, bool] | None:
    """Return the id of a packet, whose rest may be malformed, and whether the packet is an ack."""
    match = _ID.match(packet)
    return (int(match[2]), match[1] in _ACKS) if match else None
