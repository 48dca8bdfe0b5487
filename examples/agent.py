"""An agent in 20 lines: who is here, what can they do, what is on their desks?

python examples/agent.py http://127.0.0.1:8000 OFFICE [TOKEN]
"""

import asyncio
import sys

from a2c_smcp.agent import AsyncSMCPAgentClient


async def main(url: str, office: str, token: str | None = None) -> None:
    async with AsyncSMCPAgentClient(url, name="example-agent", office_id=office, token=token) as agent:
        for computer in sorted(agent.office.computers):
            tools = await agent.get_tools(computer)
            print(f"{computer} has {len(tools)} tools: {', '.join(tool['name'] for tool in tools)}")
            async for document in agent.documents(computer):
                print(f"  {document.title} ({document.page_count} pages): {document.uri}")
        print(await agent.render_context(budget=500))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
