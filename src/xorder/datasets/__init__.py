"""Data to try things on."""

from xorder.datasets.simulate import Population, simulate_population

__all__ = ["Population", "simulate_population"]
