"""Two languages in one site: a Chinese page speaks Chinese all around, and the switch leads to the same page.

mkdocs calls these functions by their names. Pages of `docs/zh` are named like their English originals.
"""

from typing import Any, Final

from mkdocs.structure.nav import Section

CHINESE: Final = "zh/"
LANGUAGES: Final = (("English", "en", ""), ("中文", "zh", CHINESE))


def is_chinese(src: str) -> bool:
    return src.startswith(CHINESE)


def original(src: str) -> str:
    """The path of a page without its language."""
    return src.removeprefix(CHINESE)


def on_page_context(context: dict[str, Any], *, page: Any, config: Any, nav: Any) -> dict[str, Any]:
    """Give the page the language, the navigation and the switch that are its own."""
    src = page.file.src_uri
    theme_language = "zh" if is_chinese(src) else "en"
    config.theme["language"] = theme_language
    urls = {other.file.src_uri: other.url for other in nav.pages}
    config.extra["alternate"] = [
        {"name": name, "lang": language, "link": urls.get(prefix + original(src), urls.get(f"{prefix}index.md", ""))}
        for name, language, prefix in LANGUAGES
    ]
    context["nav"] = _Part(nav, [item for item in nav.items if _language_of(item) == theme_language])
    for name in ("previous_page", "next_page"):
        neighbour = getattr(page, name)
        if neighbour is not None and is_chinese(neighbour.file.src_uri) != is_chinese(src):
            setattr(page, name, None)
    return context


class _Part:
    """The part of a navigation that is in one language."""

    def __init__(self, nav: Any, items: list[Any]) -> None:
        self.items = items
        self.homepage = next((item for item in items if getattr(item, "is_page", False)), nav.homepage)
        self.pages = nav.pages

    def __iter__(self) -> Any:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def _language_of(item: Any) -> str:
    while isinstance(item, Section):
        item = item.children[0]
    return "zh" if is_chinese(item.file.src_uri) else "en"
