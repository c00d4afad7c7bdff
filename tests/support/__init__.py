"""Oracles and helpers of the tests: slow and obvious, without code shared with src."""
