"""The URI modules under the names that the contract gives them."""
