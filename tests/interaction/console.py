"""Opening a console as its page does, for clients that are no browsers."""

import httpx


async def enter(client: httpx.AsyncClient, address: str) -> httpx.Response:
    """Exchange the token of a one-time address; from then on the client sends cookie and key."""
    base, _, token = address.partition("/#token=")
    answer = await client.post(f"{base}/api/session", headers={"a2c-console-token": token})
    if answer.is_success:
        client.headers["a2c-console-key"] = answer.json()["key"]
    return answer
