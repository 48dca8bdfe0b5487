"""Word documents: paragraphs by their styles, lists by their numbering, and what hangs on them."""
