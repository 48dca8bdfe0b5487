"""Mail as pages and elements."""
