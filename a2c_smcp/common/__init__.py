"""Mechanisms that every role uses and that know nothing of any role."""
