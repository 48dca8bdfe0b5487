"""Opening the console in a browser."""

import stat
import webbrowser
from pathlib import Path

import pytest

from a2c_smcp.cli.up_run import open_browser

URL = "http://127.0.0.1:1/#token=a&b=c"


class Browser(webbrowser.BaseBrowser):
    """Remembers what it was asked to open."""

    def __init__(self, *, works: bool = True) -> None:
        super().__init__("test")
        self.opened: list[str] = []
        self._works = works

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        self.opened.append(url)
        return self._works


def use(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "_browsers", {"test": [None, browser]})
    monkeypatch.setattr(webbrowser, "_tryorder", ["test"])


def test_the_token_is_in_a_file_of_ours_and_not_in_the_words_of_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser()
    use(browser, monkeypatch)
    open_browser(URL, tmp_path)
    page = tmp_path / "console.html"
    assert browser.opened == [page.as_uri()]
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "url=http://127.0.0.1:1/#token=a&amp;b=c" in page.read_text(encoding="utf-8")


def test_a_machine_without_a_browser_is_told_to_do_it_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    use(Browser(works=False), monkeypatch)
    open_browser(URL, tmp_path)
    assert caplog.messages == ["no browser could be opened: open the address by hand"]
