"""The Finder: from the catalogue to an element of a page, marked on the picture of that page."""

from urllib.parse import quote

import pytest
from playwright.async_api import expect

from tests.browser.visiting import Visit

pytestmark = pytest.mark.asyncio(loop_scope="module")

PDF = f"documents/documents/{quote('dpe://study.docs/pdf_word365_structure.pdf', safe='')}"
WORD = f"documents/documents/{quote('dpe://study.docs/docx_word_sample.docx', safe='')}"
LOCKED = f"documents/documents/{quote('dpe://study.docs/xlsx_password.xlsx', safe='')}"


async def test_the_catalogue_is_searched_and_filtered(at: Visit) -> None:
    await at.go("documents")
    status = at.page.get_by_role("main").get_by_role("status")
    rows = at.page.get_by_role("listbox").get_by_role("option")
    await expect(status).to_contain_text("documents")
    await at.page.get_by_role("searchbox").fill("年度计划")
    await expect(status).to_have_text("1 document")
    await expect(rows).to_contain_text("年度计划")
    await at.page.get_by_role("searchbox").fill("nothing-like-this")
    await expect(status).to_have_text("No document was found.")
    await expect(rows).to_have_count(0)
    await at.page.get_by_role("searchbox").fill("")
    await at.page.get_by_label("Type").select_option("epub")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Poetry")


async def test_one_walks_from_a_document_to_its_pages_and_to_their_elements(at: Visit) -> None:
    await at.go("documents")
    await at.page.get_by_role("searchbox").fill("Titre")
    await expect(at.page.get_by_role("main").get_by_role("status")).to_have_text("1 document")
    await at.page.get_by_role("listbox").get_by_role("option").filter(has_text="Titre").click()
    await expect(at.page.get_by_role("heading", level=1)).to_have_text("Titre")
    await at.page.get_by_role("listbox").get_by_role("option").first.click()
    table = at.page.get_by_role("region", name="table p0-tbl1")
    await expect(table).to_be_visible()
    cells = await table.get_by_role("row").nth(1).get_by_role("cell").all_inner_texts()
    assert cells == ["Ligne 1", "Alouette", "Farfadet"]


async def test_the_chosen_element_is_marked_on_the_picture(at: Visit) -> None:
    await at.go(f"{PDF}/0")
    picture = at.page.get_by_role("img", name="Picture of page 1")
    await expect(picture).to_be_visible()
    await at.page.get_by_role("region", name="heading p0-h1").click()
    mark = at.page.locator(".box:not(.faint)")
    await expect(mark).to_be_visible()
    whole, box = await picture.bounding_box(), await mark.bounding_box()
    assert whole is not None
    assert box is not None
    # By its PDF: [72.0, 77.7, 122.1, 105.8] of 595.2 × 842.0.
    assert (box["x"] - whole["x"]) / whole["width"] == pytest.approx(72.0 / 595.2, abs=0.01)
    assert (box["y"] - whole["y"]) / whole["height"] == pytest.approx(77.7 / 842.0, abs=0.01)
    assert box["width"] / whole["width"] == pytest.approx(50.1 / 595.2, abs=0.01)
    assert box["height"] / whole["height"] == pytest.approx(28.1 / 842.0, abs=0.01)


async def test_what_is_clicked_on_the_picture_is_found_in_the_text(at: Visit) -> None:
    await at.go(f"{PDF}/0/p0-h1")
    picture = at.page.get_by_role("img", name="Picture of page 1")
    await expect(at.page.locator(".box:not(.faint)")).to_be_visible()
    whole = await picture.bounding_box()
    assert whole is not None
    await picture.click(position={"x": whole["width"] * 0.3, "y": whole["height"] * 0.31}, force=True)
    await expect(at.page.get_by_role("region", name="table p0-tbl1")).to_have_class("element chosen")
    assert at.page.url.endswith("/0/p0-tbl1")


async def test_a_place_found_in_the_text_leads_to_its_element(at: Visit) -> None:
    await at.go("documents")
    await at.page.get_by_label("Where to search").select_option("inside")
    await at.page.get_by_role("searchbox").fill("Farfadet")
    await at.page.get_by_role("link", name="Farfadet").click()
    await expect(at.page.get_by_role("region", name="table p0-tbl1")).to_have_class("element chosen")


async def test_pictures_in_a_document_are_shown(at: Visit) -> None:
    await at.go(f"{WORD}/0")
    inset = at.page.get_by_role("region", name="image img-001").locator("img")
    await expect(inset).to_be_visible()
    assert await inset.evaluate("image => image.naturalWidth") > 0


async def test_a_page_without_a_picture_is_text_alone(at: Visit) -> None:
    await at.go(f"{WORD}/0")
    await expect(at.page.get_by_role("region", name="heading h-001")).to_be_visible()
    await expect(at.page.get_by_role("img", name="Picture of page 1")).to_be_hidden()


async def test_a_document_that_cannot_be_read_says_why(at: Visit) -> None:
    await at.go(LOCKED)
    await expect(at.page.get_by_text("password-protected").first).to_be_visible()


async def test_the_list_is_where_one_left_it(at: Visit) -> None:
    await at.go("documents")
    await at.page.get_by_role("searchbox").fill("Titre")
    await expect(at.page.get_by_role("main").get_by_role("status")).to_have_text("1 document")
    await at.page.get_by_role("listbox").get_by_role("option").click()
    await at.page.go_back()
    await expect(at.page.get_by_role("searchbox")).to_have_value("Titre")
    await expect(at.page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
