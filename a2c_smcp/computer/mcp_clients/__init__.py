"""The configuration models under the name that the contract gives them."""
