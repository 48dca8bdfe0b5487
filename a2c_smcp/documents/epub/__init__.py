"""E-books as pages and elements."""
