"""Rules of offices: who may join, who may address whom, who receives a notification. Pure."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from a2c_smcp.common.lookalikes import skeleton
from a2c_smcp.errors import ComputerLost, CrossOffice, Forbidden, NotFound, NotInOffice, OfficeFull
from a2c_smcp.smcp import (
    UPDATE_PROGRESS_NOTIFICATION,
    UPDATE_RESOURCES_NOTIFICATION,
    EnterOfficeReq,
    SessionInfo,
)
from a2c_smcp.types import Role

_skeleton = lru_cache(maxsize=8_192)(skeleton)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an office: role, name, and the connection and node it is on.

    `sid` is never reused, so a late message about a previous member of the same name is recognized. `owner` is the
    fingerprint of the credentials (`credential_fingerprint`), or empty.
    """

    office_id: str
    role: Role
    name: str
    sid: str
    node: str = ""
    version: str | None = None
    owner: str = ""

    def info(self) -> SessionInfo:
        """Return the entry of `server:list_room`."""
        info: SessionInfo = {"sid": self.sid, "name": self.name, "role": self.role, "office_id": self.office_id}
        return info if self.version is None else info | {"a2c_version": self.version}

    def notification(self) -> dict[str, Any]:
        """Return the payload of the join and leave notifications."""
        return {"office_id": self.office_id, self.role: self.name}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a connection's credentials bind it to; None binds nothing.

    Attributes:
        expires: When the credentials expire, in seconds since the epoch.
        subject: The name of the credentials in logs.
        principal: Who presents the credentials. Of two connections with the same principal and name, the second
            takes over from the first. Without a principal, credentials that bind a name count as the same party.
    """

    role: Role | None = None
    name: str | None = None
    office_id: str | None = None
    expires: float | None = None
    subject: str | None = None
    principal: str | None = field(default=None, repr=False, compare=False)

    def described(self) -> str:
        """Return what the credentials bind, for an error message."""
        who = f"as {self.role or 'any role'} {repr(self.name) if self.name is not None else 'of any name'}"
        return f"{who} in {f'office {self.office_id!r}' if self.office_id is not None else 'any office'}"


@dataclass(slots=True)
class OfficeMembers:
    """The members of one office that this node knows."""

    agent: Member | None = None
    computers: dict[str, Member] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Member]:
        if self.agent is not None:
            yield self.agent
        yield from self.computers.values()

    def __bool__(self) -> bool:
        return self.agent is not None or bool(self.computers)

    def holder(self, member: Member) -> Member | None:
        """Return the member that has the role or name which `member` asks for."""
        return self.agent if member.role == "agent" else self.computers.get(member.name)

    def add(self, member: Member) -> None:
        """Add a member, in place of any that has its role or name."""
        if member.role == "agent":
            self.agent = member
        else:
            self.computers[member.name] = member

    def remove(self, member: Member) -> bool:
        """Remove a member if it is on this very connection; return whether it was."""
        holder = self.holder(member)
        if holder is None or holder.sid != member.sid:
            return False
        if member.role == "agent":
            self.agent = None
        else:
            del self.computers[member.name]
        return True


def check_join(office: OfficeMembers | None, member: Member) -> None:
    """Check that a member can join.

    Raises:
        OfficeFull: The office has another Agent.
        Forbidden: The office has another Computer of that name, or a member whose name looks the same.
    """
    if office is None:
        return
    holder = office.holder(member)
    if holder is not None and holder.sid != member.sid:
        raise name_taken_error(member)
    check_lookalike(office, member)


def check_lookalike(office: OfficeMembers, member: Member) -> None:
    """Check that a name cannot be mistaken for another member's.

    Raises:
        Forbidden: It looks like another member's name.
    """
    wanted = _skeleton(member.name)
    if any(other.name != member.name and _skeleton(other.name) == wanted for other in office):
        raise Forbidden(
            f"The name {member.name!r} looks like that of another member of this office; choose another name"
        )


def credential_fingerprint(identity: Identity) -> str:
    """Return a fingerprint of who presents these credentials; empty if they identify nobody."""
    if identity.principal is not None:
        facts = ("principal", identity.principal)
    elif identity.name is not None:
        bound = (identity.role, identity.name, identity.office_id, identity.subject)
        facts = ("bound", "\0".join(str(one) for one in bound))
    else:
        return ""
    return hashlib.sha256("\0".join(("a2c member", *facts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_same_party(holder: Member, member: Member) -> bool:
    """Return whether both have the same credentials, role and name."""
    return (
        bool(member.owner) and holder.owner == member.owner and (holder.role, holder.name) == (member.role, member.name)
    )


def taken_over_error() -> Forbidden:
    """Return the error for a connection that another one replaced."""
    return Forbidden("Another connection with the same credentials and name replaced this one")


def unresponsive_error() -> NotFound:
    """Return the error for a connection that did not answer a ping when another client wanted its name."""
    return NotFound("This connection did not answer a ping when another client wanted its name; connect again")


def name_taken_error(member: Member) -> OfficeFull | Forbidden:
    """Return the error for a role or name that another member has."""
    if member.role == "agent":
        return OfficeFull("The office has an agent already; an office has one agent at a time")
    return Forbidden(f"The computer name {member.name!r} is taken in this office; choose another name")


def member_for(
    request: EnterOfficeReq, *, current: Member | None, bound: Identity, sid: str, node: str, version: str | None
) -> Member:
    """Return the member that this connection asks to be.

    Raises:
        Forbidden: The credentials or an earlier join of the connection do not allow it.
    """
    for what, wanted, allowed in (
        ("role", request["role"], bound.role),
        ("name", request["name"], bound.name),
        ("office", request["office_id"], bound.office_id),
    ):
        if allowed is not None and wanted != allowed:
            raise Forbidden(
                f"The credentials of this connection are for the {what} {allowed!r}, not for {wanted!r}: "
                f"join {bound.described()}, or connect with other credentials"
            )
    if current is not None and (current.role, current.name) != (request["role"], request["name"]):
        raise Forbidden(
            f"This connection has joined as {current.role} {current.name!r}; leave the office first to join as "
            f"{request['role']} {request['name']!r}"
        )
    return Member(
        request["office_id"], request["role"], request["name"], sid, node, version, credential_fingerprint(bound)
    )


def require_member(current: Member | None) -> Member:
    """Return the sender's membership.

    Raises:
        NotInOffice: The sender has not joined an office.
    """
    if current is None:
        raise NotInOffice("Join an office first (server:join_office)")
    return current


def require_role(member: Member, role: Role, event: str) -> None:
    """Check the role of the sender.

    Raises:
        Forbidden: The sender has the other role.
    """
    if member.role != role:
        raise Forbidden(f"Only {'an agent' if role == 'agent' else 'a computer'} may send {event}")


def recipients(office: OfficeMembers, event: str, data: Mapping[str, Any], sender: str) -> list[str]:
    """Return the connections that receive a notification.

    Progress goes to the Agent that made the call, resource updates to the Agent of the office, everything else to all
    members but the sender.
    """
    if event not in (UPDATE_PROGRESS_NOTIFICATION, UPDATE_RESOURCES_NOTIFICATION):
        return [member.sid for member in office if member.sid != sender]
    agent = office.agent
    if event == UPDATE_RESOURCES_NOTIFICATION:
        return [agent.sid] if agent is not None else []
    return [agent.sid] if agent is not None and data.get("agent") == agent.name else []


def require_office(member: Member, office_id: str) -> None:
    """Check that a payload names the sender's own office.

    Raises:
        CrossOffice: The payload names another office, existing or not.
    """
    if member.office_id != office_id:
        raise CrossOffice("The payload names an office that this connection is not in")


def computer_not_found(computer: str) -> ComputerLost:
    """Return the error for a Computer that is not in the sender's office, whether or not another office has it."""
    return ComputerLost(f"No computer {computer!r} in this office", details={"computer": computer})
