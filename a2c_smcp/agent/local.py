"""How an Agent finds the office that `a2c up` serves on this machine."""

import os
from collections.abc import Mapping
from typing import TypedDict

from a2c_smcp.common.running_offices import find_running


class LocalOffice(TypedDict):
    """The arguments of a client that joins it."""

    url: str
    name: str
    office_id: str
    token: str


def local_office(name: str = "agent", env: Mapping[str, str] = os.environ) -> LocalOffice:
    """Return how to join the running `a2c up` of this user: `AsyncSMCPAgentClient(**local_office("ada"))`.

    An office has one Agent, so each call names an office of its own, in which the Computer of `a2c up` takes part for
    as long as the Agent is there. Any number of Agents work at the same time.

    Args:
        name: The Agent's name.
        env: The environment, which says where the user's files are.

    Raises:
        NotFound: No `a2c up` is running.
    """
    found = find_running(env)
    return {"url": found.url, "name": name, "office_id": found.of_agent(name), "token": found.token}
