"""Texts that documents may hold, and above all those that Markdown would make something of."""

from typing import Any, Final

from hypothesis import strategies as st

_SNIPPETS: Final = [
    *("`", "``", "```", "*", "**", "_", "__", "~", "~~", "~~~", "\\", "$", "!", "'", '"', "|", "| -", "|-|", ":-"),
    *(
        "[",
        "]",
        "(",
        ")",
        "](",
        "]:",
        "]: x",
        "![",
        "[x] ",
        "[ ] ",
        "http://",
        "javascript:",
        "file:",
        "data:image/png;",
    ),
    *(
        "<",
        "</",
        "<!",
        "<!--",
        "-->",
        "<?",
        "?>",
        ">",
        "<b",
        "<b>",
        "<http://x>",
        "<1@b.c>",
        "<script>",
        "<![CDATA[",
        "@",
    ),
    *("#", "##", "-", "--", "---", "+", "=", "===", "1.", "1)", "2.", "01.", "&amp;", "&#35;", "&copy;", "&", ";", "%"),
    *(" ", "    ", "\t", "\n", "\n\n", "\n \n", "\r\n", "\x00", "\x0b", "\u3000", "\xa0", "\u2028", "\u200b", "\ud800"),
    *("a", "b", "x1", "中", "文", "é", "."),
]

any_text: Final = st.text(st.characters(exclude_categories=()), max_size=20)
"""Any string, surrogates and control characters included."""

nasty_text: Final = st.lists(st.sampled_from(_SNIPPETS), max_size=10).map("".join)
"""Markdown in the making."""

texts: Final = nasty_text | any_text

numbers: Final = st.sampled_from([0, 1, 2, 7, 10, 999_999_999, 10**12])

json_values: Final = st.recursive(
    st.none() | st.booleans() | st.floats() | any_text,
    lambda inner: st.lists(inner) | st.dictionaries(any_text, inner),
    max_leaves=5,
)


def _list_of(items: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"ordered": st.booleans(), "items": st.lists(items, max_size=3)}, optional={"start": numbers}
    )


def _item(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Any]:
    return texts | st.fixed_dictionaries({"text": texts}, optional={"checked": st.booleans(), "children": inner})


lists: Final = st.recursive(_list_of(texts), lambda inner: _list_of(_item(inner)), max_leaves=4)
"""Contents of list elements, nested, empty items and empty lists included."""
