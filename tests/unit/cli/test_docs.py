"""`a2c docs` from its words to its output."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from a2c_smcp.cli.tree import tree_of
from a2c_smcp.documents.library import Library
from a2c_smcp.documents.model import Page, PageEntry
from a2c_smcp.errors import DocumentError
from tests.documents.hostile.making import deflated, pdf
from tests.unit.cli.running import EXAMPLES, Run, a2c


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "notes.md").write_text("# Notes\n\nFirst.\n\n- a\n- b\n", encoding="utf-8")
    (tmp_path / "sales.csv").write_text("year,sum\n2025,10\n2026,12\n", encoding="utf-8")
    return str(tmp_path)


def read(folder: str, uri: str, *words: str) -> Run:
    return a2c("docs", folder, "--read", uri, *words)


def test_the_tree_shows_documents_pages_and_elements_with_their_uris(folder: str) -> None:
    run = a2c("docs", folder)
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines() == [
        f"2 documents in {folder}  dpe://a2c.docs",
        "",
        "1. Notes  md, 1 page  dpe://a2c.docs/notes.md",
        "   First.",
        "   └─ Notes  (3 elements)  dpe://a2c.docs/notes.md/pages/0",
        "      ├─ h-001  heading  Notes  dpe://a2c.docs/notes.md/elements/h-001",
        "      ├─ txt-001  text  First.  dpe://a2c.docs/notes.md/elements/txt-001",
        "      └─ lst-001  list  2 items: a · b  dpe://a2c.docs/notes.md/elements/lst-001",
        "",
        "2. sales  csv, 1 page  dpe://a2c.docs/sales.csv",
        "   2 rows × 2 columns: year, sum",
        "   └─ sales  (1 element)  dpe://a2c.docs/sales.csv/pages/0",
        "      └─ tbl-001  table  2 rows × 2 columns: year, sum  dpe://a2c.docs/sales.csv/elements/tbl-001",
    ]


def test_the_depth_ends_the_tree_early(folder: str) -> None:
    assert a2c("docs", folder, "--depth", "documents").out.splitlines()[2:] == [
        "1. Notes  md, 1 page  dpe://a2c.docs/notes.md",
        "   First.",
        "",
        "2. sales  csv, 1 page  dpe://a2c.docs/sales.csv",
        "   2 rows × 2 columns: year, sum",
    ]


def test_the_limit_counts_what_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nx\n\n# B\n\ny\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("b", encoding="utf-8")
    assert a2c("docs", str(tmp_path), "--limit", "1").out.splitlines()[2:] == [
        "1. A  md, 2 pages  dpe://a2c.docs/a.md",
        "   x",
        "   ├─ A  (2 elements)  dpe://a2c.docs/a.md/pages/0",
        "   │  ├─ h-001  heading  A  dpe://a2c.docs/a.md/elements/h-001",
        "   │  └─ … 1 more element",
        "   └─ … 1 more page",
        "",
        "… 1 more: --limit 2 shows all",
    ]


def test_with_json_the_tree_is_data(folder: str) -> None:
    tree = json.loads(a2c("docs", folder, "--json").out)
    assert (tree["host"], tree["uri"], tree["total_count"]) == ("a2c.docs", "dpe://a2c.docs", 2)
    assert tree["documents"][1]["pages"] == [
        {
            "page_index": 0,
            "title": "sales",
            "element_count": 1,
            "uri": "dpe://a2c.docs/sales.csv/pages/0",
            "elements": [
                {
                    "element_id": "tbl-001",
                    "category": "table",
                    "summary": "2 rows × 2 columns: year, sum",
                    "uri": "dpe://a2c.docs/sales.csv/elements/tbl-001",
                }
            ],
        }
    ]


def test_the_host_of_the_uris_can_be_chosen(folder: str) -> None:
    assert "dpe://com.example.docs/notes.md/pages/0" in a2c("docs", folder, "--host", "com.example.docs").out


def test_a_resource_is_read_as_markdown(folder: str) -> None:
    markdown = "# Notes\n\nFirst.\n\n- a\n- b\n"
    assert read(folder, "dpe://a2c.docs/notes.md/pages/0") == (0, markdown, "")


def test_the_format_of_the_uri_is_respected(folder: str) -> None:
    assert read(folder, "dpe://a2c.docs/sales.csv/elements/tbl-001?format=text").out == (
        "year\tsum\n2025\t10\n2026\t12\n"
    )


def test_json_is_written_when_the_uri_asks_for_it(folder: str) -> None:
    page = json.loads(read(folder, "dpe://a2c.docs/notes.md/pages/0?format=json&categories=list").out)
    assert [element["element_id"] for element in page["elements"]] == ["lst-001"]


def test_with_json_a_resource_is_read_as_json(folder: str) -> None:
    element = json.loads(read(folder, "dpe://a2c.docs/sales.csv/elements/tbl-001", "--json").out)
    assert element["content"]["rows"] == [["2025", "10"], ["2026", "12"]]


@pytest.mark.rule("7.7")
def test_with_json_markdown_comes_in_the_form_that_an_agent_gets(folder: str) -> None:
    assert json.loads(read(folder, "dpe://a2c.docs/notes.md/elements/txt-001?format=markdown", "--json").out) == {
        "content_markdown": "First.",
        "title": "First.",
        "uri": "dpe://a2c.docs/notes.md/elements/txt-001?format=markdown",
    }


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("dpe://a2c.docs/note.md", 4201),
        ("dpe://elsewhere/notes.md", 4201),
        ("dpe://a2c.docs/notes.md/pages/7", 4202),
        ("dpe://a2c.docs/notes.md/elements/tbl-9", 4203),
        ("dpe://a2c.docs/notes.md/chapters/1", 4204),
    ],
)
def test_what_is_not_there_is_told_with_its_code_and_a_hint(folder: str, uri: str, code: int) -> None:
    run = read(folder, uri)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith(f"error {code}: ")
    assert "\nhint: " in run.err


def test_a_folder_that_does_not_exist_is_told() -> None:
    assert a2c("docs", "no-such-folder") == (1, "", "error 400: There is no folder 'no-such-folder'\n")


def test_an_empty_folder_is_no_error(tmp_path: Path) -> None:
    assert a2c("docs", str(tmp_path)) == (0, f"0 documents in {tmp_path}  dpe://a2c.docs\n", "")


def test_a_file_that_cannot_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "broken.md").write_bytes(b"\x00\x01\x02" * 100)
    (tmp_path / "good.md").write_text("# Good\n", encoding="utf-8")
    assert a2c("docs", str(tmp_path), "--depth", "documents").out.splitlines()[2:] == [
        "1. broken  md, 0 pages  dpe://a2c.docs/broken.md",
        "   Cannot be read: not text: it holds binary data",
        "",
        "2. Good  md, 1 page  dpe://a2c.docs/good.md",
        "   Good",
    ]


class Worn(Library):
    """A library in which a page of one document, and the index of another, cannot be read."""

    def entries(self, doc_ref: str, offset: int, limit: int) -> Sequence[PageEntry]:
        if doc_ref == "sales.csv":
            raise DocumentError("the index is gone")
        return super().entries(doc_ref, offset, limit)

    def page(self, doc_ref: str, index: int) -> Page:
        raise DocumentError(f"page {index} is torn")


def test_pages_that_cannot_be_read_leave_the_rest_of_the_tree_intact(folder: str) -> None:
    notes, sales = tree_of(Worn([folder], host="h"), "elements", 9)["documents"]
    assert (notes["pages"][0]["title"], notes["pages"][0]["elements"]) == ("page 0 is torn", [])
    assert (sales.get("summary"), "pages" in sales) == ("the index is gone", False)


def test_titles_cannot_drive_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text("# \x1b]0;owned\x07\n\n\x1b[2Jtext\n", encoding="utf-8")
    folder = str(tmp_path)
    assert "\x1b" not in a2c("docs", folder, typed="q\n", env={"NO_COLOR": "1"}).out
    assert "\x1b" not in a2c("docs", folder, "--read", "dpe://a2c.docs/evil.md/pages/0", typed="").out


def test_every_uri_of_the_examples_can_be_read() -> None:
    tree = json.loads(a2c("docs", EXAMPLES, "--json", "--limit", "100").out)
    uris = [
        branch["uri"]
        for document in tree["documents"]
        for branch in (document, *document["pages"], *(e for page in document["pages"] for e in page["elements"]))
    ]
    assert len(uris) > 70
    assert [uri for uri in uris if read(EXAMPLES, uri).code != 0] == []


def test_every_uri_that_the_examples_mention_can_be_read() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(EXAMPLES).rglob("*.md")]
    uris = {uri for text in texts for uri in re.findall(r"dpe://a2c\.docs[^'\s`]*", text)}
    assert len(uris) >= 4
    assert {uri: read(EXAMPLES, uri).err for uri in uris} == dict.fromkeys(uris, "")


def test_files_are_parsed_by_workers_with_limits_and_never_by_the_command_itself(tmp_path: Path) -> None:
    (tmp_path / "bomb.pdf").write_bytes(pdf(deflated(700), filters="/FlateDecode"))
    (tmp_path / "notes.md").write_text("# Notes", encoding="utf-8")
    (tmp_path / "page.html").write_text("<h1>Title</h1>", encoding="utf-8")
    code = (
        "import re, sys; from a2c_smcp.cli.main import main; "
        f"assert main(['docs', {str(tmp_path)!r}, '--json']) == 0; "
        "parsers = {'pypdfium2', 'lxml', 'selectolax', 'markdown_it', 'PIL', 'python_calamine'}; "
        # Unlike ru_maxrss, this does not count the process that started this one.
        "peak = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]; "
        "print(sorted(parsers & set(sys.modules)), peak, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert {"bomb", "Notes", "Title"} == {document["title"] for document in json.loads(done.stdout)["documents"]}
    loaded, _, kilobytes = done.stderr.strip().rpartition(" ")
    assert loaded == "[]"
    assert int(kilobytes) < 300 << 10
