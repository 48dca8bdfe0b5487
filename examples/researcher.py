"""A researcher: searches the documents of an office, reads within a budget, and cites where it read.

python examples/researcher.py http://127.0.0.1:8000 OFFICE "quarterly revenue" [TOKENS]

With OPENAI_BASE_URL set (see tool_loop.py), a model answers from what was read; without, it is printed as it is.
"""

import asyncio
import os
import sys

from tool_loop import complete

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.agent.documents import Documents, MarkdownPassage

ADVICE = "Answer from these passages alone, and cite the dpe:// URI of each that you use."


async def read(documents: Documents, question: str, budget: int) -> list[MarkdownPassage]:
    """Return the pages that were found, as many as the budget pays for."""
    passages: list[MarkdownPassage] = []
    async for hit in documents.search_text(question):
        page = await documents.page(hit.uri)
        if page.uri in {passage.uri for passage in passages}:
            continue
        async for passage in page.document.iter_markdown(token_budget=budget, start=page.index, stop=page.index + 1):
            passages.append(passage)
            budget -= passage.tokens
    return passages


async def main(url: str, office: str, question: str, tokens: str = "4000") -> None:
    token = os.environ.get("A2C_TOKEN")
    async with AsyncSMCPAgentClient(url, name="researcher", office_id=office, token=token) as agent:
        computers = sorted(agent.office.computers)
        share = int(tokens) // max(len(computers), 1)
        found = [passage for name in computers for passage in await read(agent.documents(name), question, share)]
    report = "\n\n".join(
        f"{passage}\n\n[{passage.page_title or passage.page_index}]({passage.uri})" for passage in found
    )
    if not found:
        print("Nothing found.")
    elif "OPENAI_BASE_URL" in os.environ:
        prompt = f"{ADVICE}\n\nQuestion: {question}\n\n{report}"
        print((await asyncio.to_thread(complete, [{"role": "user", "content": prompt}]))["content"])
    else:
        print(report)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
