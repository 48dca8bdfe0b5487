import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.formats.front_matter import FrontMatter, split_front_matter


@pytest.mark.parametrize(
    ("block", "front"),
    [
        ("title: A title", FrontMatter(title="A title")),
        ("title: 'Quoted: yes'", FrontMatter(title="Quoted: yes")),
        ("Title: Case", FrontMatter(title="Case")),
        ("keywords: [a, 'b c', d]", FrontMatter(keywords=("a", "b c", "d"))),
        ("tags: a, b", FrontMatter(keywords=("a", "b"))),
        ("tags:\n  - a\n  - b", FrontMatter(keywords=("a", "b"))),
        ("description: In short.", FrontMatter(summary="In short.")),
        ("description: >-\n  Over two\n  lines.", FrontMatter(summary="Over two lines.")),
        ("draft: true\ndate: 2026-01-01", FrontMatter()),
        ("title:", FrontMatter()),
    ],
)
def test_the_forms_people_write_are_read(block: str, front: FrontMatter) -> None:
    assert split_front_matter(f"---\n{block}\n---\nText\n") == (front, "Text\n", block.count("\n") + 3)


@pytest.mark.parametrize(
    "text",
    ["# Title\n", "---\n\nA rule.\n\n---\n", "---\ntitle: never closed\n", "text\n---\ntitle: x\n---\n", "---", ""],
)
def test_a_text_without_front_matter_stays_whole(text: str) -> None:
    assert split_front_matter(text) == (FrontMatter(), text, 0)


@given(st.text(alphabet=st.sampled_from("-.: \na[],'\"|>#\t")))
def test_what_is_left_is_always_the_end_of_the_text(text: str) -> None:
    _, rest, lines = split_front_matter(f"---\n{text}")
    assert f"---\n{text}".endswith(rest)
    assert "\n".join(f"---\n{text}".split("\n")[lines:]) == rest or rest == ""
