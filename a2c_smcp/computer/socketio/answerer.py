"""Who answers what Agents ask: the client's view of the rest of the Computer."""

from typing import Any, Protocol


class Answerer(Protocol):
    """Answers requests. It is called for many at once, each in a task of its own."""

    async def answer(self, event: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a `client:*` event whose payload has been validated.

        A connection that breaks does not cancel it: the Agent asks again with the same `req_id`.

        Raises:
            SMCPError: The Agent gets it as an error ack.
        """

    async def cancel(self, agent: str, req_id: str) -> None:
        """The Agent wants this call no more; an unknown or finished one is ignored."""

    def office_changed(self, office_id: str | None) -> None:
        """The Computer now serves this office, or none. What was kept for the Agent of the former is nobody's.

        A connection that comes back to the same office is no change.
        """
