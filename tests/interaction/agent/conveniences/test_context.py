"""The desktops of an office in a model's context."""

import asyncio

from a2c_smcp.agent import AsyncSMCPAgentClient, SMCPAgentClient
from a2c_smcp.common.token_estimate import estimate_tokens
from tests.interaction.agent.conveniences.conftest import Place
from tests.interaction.agent.conveniences.documents_office import CAP, documents_computer

EDITOR = (
    '<window computer="my-computer" server="com.example.docs" uri="window://com.example.docs/editor?priority=80">\n'
    "def main(): ...\n</window>"
)


async def test_windows_of_all_computers_fit_into_the_budget(place: Place, visitor: AsyncSMCPAgentClient) -> None:
    async with documents_computer(place.url, place.office, "other"):
        text = await visitor.render_context(400)
        alone = await visitor.render_context(400, computers=["my-computer"])
    assert text.startswith(f"{EDITOR}\n\n{EDITOR.replace('my-computer', 'other')}\n\n<window ")
    assert text.endswith("</window>\n\n(Shortened: 2 windows.)")
    assert text.count("<window ") == 4
    assert 300 < estimate_tokens(text) <= 400
    assert "other" not in alone


async def test_blocking_code_sees_the_same(place: Place) -> None:
    def render() -> str:
        with SMCPAgentClient(place.url, name="ada", office_id=place.office) as agent:
            return agent.render_context(200)

    assert (await asyncio.wait_for(asyncio.to_thread(render), CAP)).startswith(EDITOR)
