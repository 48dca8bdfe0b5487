"""Presentations: a slide's shapes in the order in which a person reads them."""
