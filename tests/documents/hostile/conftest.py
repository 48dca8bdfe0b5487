"""The services of these tests are made like those of the others."""

from tests.documents.service.conftest import make, misbehaving, root, serve, write

__all__ = ["make", "misbehaving", "root", "serve", "write"]
