"""Socket.IO packets of the namespace, cut as text where nothing needs to be parsed. Pure.

packet type   one digit: 2 event, 3 ack
namespace     /smcp,
id            digits, where an ack is wanted or given
data          a JSON list: ["event", payload] or [argument, ...]
"""

import re
from typing import Any, Final

from a2c_smcp.fastjson import FastJson
from a2c_smcp.server.payload import Raw, arguments_of
from a2c_smcp.smcp import SMCP_NAMESPACE

EVENT: Final = f"2{SMCP_NAMESPACE},"
ACK: Final = f"3{SMCP_NAMESPACE},"

# Only names that need no JSON unescaping; anything else goes the careful way.
_ROUTED: Final = re.compile(rf'{re.escape(EVENT)}(\d{{0,18}})\["(client:[\w.:-]{{1,100}})",')
_ACK: Final = re.compile(rf"{re.escape(ACK)}(\d{{1,18}})(?=\[)")
_ID: Final = re.compile(rf"[25](?:\d+-)?{re.escape(SMCP_NAMESPACE)},(\d{{1,18}})")


def split_request(packet: str) -> tuple[int | None, str, Raw] | None:
    """Return ack id, event name and unparsed payload of a `client:*` event with one payload; None for all others.

    The payload may still be malformed, or more than one argument: reading its head tells.
    """
    match = _ROUTED.match(packet)
    if match is None or packet[-1] != "]":
        return None
    number, event = match.groups()
    return int(number) if number else None, event, Raw(packet[match.end() : -1])


def ack_number_of(packet: str) -> int | None:
    """The number of an ack, or None if it is not of this form."""
    match = _ACK.match(packet)
    return int(match[1]) if match else None


def ack_arguments(packet: str) -> Raw:
    """The unparsed arguments of an ack: what stands between the brackets.

    Raises:
        ValueError: They are not well-formed JSON.
    """
    text = packet[packet.index("[") :]
    arguments_of(text)
    return Raw(text.strip()[1:-1].strip())


def event_packet(event: str, payload: Raw, number: int) -> str:
    """An event that wants an ack, its payload passed through."""
    return f'{EVENT}{number}["{event}",{payload.text}]'


def notification_packet(event: str, data: Any) -> str:
    """An event that wants none."""
    return f"{EVENT}{FastJson.dumps([event, data])}"


def ack_packet(number: int, answer: Raw | tuple[Any, ...]) -> str:
    """The answer to an event."""
    body = f"[{answer.text}]" if isinstance(answer, Raw) else FastJson.dumps(list(answer))
    return f"{ACK}{number}{body}"


def ack_id_of(packet: str) -> int | None:
    """The ack id of an event packet that may be malformed behind it."""
    match = _ID.match(packet)
    return int(match[1]) if match else None
