"""Modules that lie beside the documents are never imported, whatever command runs in their folder."""

import asyncio
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.digest.installer import AutoInstallerExpert
from tests.interaction.cli.running_up import up
from tests.interaction.server.programs import environment

CAP = 120
ROOT = Path(__file__).parents[3]
DOCUMENTS = ROOT / "tests" / "data" / "documents"
OFFICE_SERVER = ROOT / "tests" / "interaction" / "mcp_servers" / "office_server.py"
A2C = str(Path(sys.executable).with_name("a2c"))
MODULES = (
    *("a2c_smcp", "json", "runpy", "asyncio", "struct", "select", "ctypes", "lxml", "pypdfium2", "httpx", "pip"),
    *("vrl_python", "sitecustomize", "usercustomize", "encodings/__init__", "PIL/__init__", "msgspec/__init__"),
)
POISON = """import os
with open({mark!r}, "a") as file:
    file.write(__name__ + " in " + " ".join(open("/proc/self/cmdline").read().split("\\0")) + "\\n")
raise ImportError("poisoned")
"""

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "imported"


@pytest.fixture
def folder(tmp_path: Path, mark: Path) -> Path:
    made = tmp_path / "cwd"
    for name in MODULES:
        path = made / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(POISON.format(mark=str(mark)), encoding="utf-8")
    (made / "notes.md").write_text("# Notes\n\nText.\n", encoding="utf-8")
    shutil.copy(DOCUMENTS / "pdf_table_repair_inv.pdf", made / "invoice.pdf")
    return made


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    places = {"XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache"}
    return environment({name: str(tmp_path / place) for name, place in places.items()})


def imported(mark: Path) -> str:
    return mark.read_text(encoding="utf-8") if mark.exists() else ""


def run(folder: Path, env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=CAP, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_docs_reads_a_poisoned_folder(folder: Path, env: dict[str, str], mark: Path) -> None:
    tree = json.loads(run(folder, env, A2C, "docs", ".", "--json"))
    assert {"Notes", "invoice"} <= {document["title"] for document in tree["documents"]}
    assert imported(mark) == ""


def test_digest_runs_in_a_poisoned_folder(folder: Path, env: dict[str, str], mark: Path) -> None:
    run(folder, env, A2C, "digest", "--pdf", "invoice.pdf", "--no_model", "--no_ocr", "--dpi", "60", "--quiet")
    assert imported(mark) == ""


async def test_docs_serve_reads_and_digests_a_poisoned_folder(folder: Path, env: dict[str, str], mark: Path) -> None:
    words = ["docs", "serve", ".", "--digests", str(folder / "digests"), "--workers", "1"]
    parameters = StdioServerParameters(command=A2C, args=words, env=env, cwd=folder)
    async with asyncio.timeout(CAP), Client(parameters, mode="legacy") as client:
        page = await client.read_resource("dpe://a2c.docs/invoice.pdf/pages/0")
        assert page.contents
        made = await client.call_tool("digest_document", {"doc_ref": "invoice.pdf", "dpi": 60})
        assert not made.is_error, made
    assert imported(mark) == ""


async def test_up_reads_a_poisoned_folder(folder: Path, mark: Path) -> None:
    async with up(folder.parent, "--name", "desk", "--no-config", program=[A2C]) as running:
        ready = await running.hear(event="ready")
        await running.hear(event="server", name="documents", state="running")
        token = (await asyncio.to_thread(Path(ready["token_file"]).read_text, encoding="ascii")).strip()
        async with AsyncSMCPAgentClient(ready["url"], name="reader", office_id="home", token=token) as agent:
            page = await agent.read_page("desk", "dpe://a2c.docs/invoice.pdf", 0)
            assert page
        tree = running.tree()
        running.process.send_signal(signal.SIGTERM)
        await running.ended(tree)
    assert imported(mark) == ""


def test_a_computer_runs_scripts_in_a_poisoned_folder(folder: Path, env: dict[str, str], mark: Path) -> None:
    server = {"command": sys.executable, "args": ["-P", str(OFFICE_SERVER)], "cwd": str(ROOT), "vrl": ".seen = true"}
    (folder / "office.json").write_text(json.dumps({"mcpServers": {"office": server}}), encoding="utf-8")
    words = ["computer", "--config", "office.json", "--headless", "--do", 'call echo {"text": "hello"}']
    assert "hello" in run(folder, env, A2C, *words)
    assert imported(mark) == ""


def test_the_module_form_of_the_command_forgets_the_current_folder(
    folder: Path, env: dict[str, str], mark: Path
) -> None:
    # What `python -m` itself imports first is out of reach; whatever is imported later is not taken from here.
    for name in MODULES:
        if name not in ("lxml", "pypdfium2"):
            (folder / f"{name}.py").unlink()
    run(folder, env, sys.executable, "-m", "a2c_smcp.cli", "docs", ".", "--json")
    assert imported(mark) == ""


def test_installers_run_outside_the_current_folder(folder: Path, mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("a2c_smcp.digest.installer._is_there", lambda _: False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_DRY_RUN", "1")
    AutoInstallerExpert().ensure({"packages": ["httpx"], "allow_install": True, "installer": "pip"})
    assert imported(mark) == ""
