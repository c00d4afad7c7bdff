"""Data to try things on: a simulated population, four open sets, and cohorts of one's own copy of MIMIC-III or eICU."""

from xorder._lazy import lazy_names
from xorder.datasets.simulate import Population, simulate_population

__all__ = [
    "Population",
    "Problem",
    "Split",
    "build_eicu",
    "build_mimic3",
    "impute_mean",
    "load_adult",
    "load_compas",
    "load_eicu",
    "load_framingham",
    "load_german",
    "load_mimic3",
    "simulate_population",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Problem": "problem",
        "Split": "problem",
        "build_eicu": "eicu",
        "build_mimic3": "mimic3",
        "impute_mean": "imputing",
        "load_adult": "adult",
        "load_compas": "compas",
        "load_eicu": "eicu",
        "load_framingham": "framingham",
        "load_german": "german",
        "load_mimic3": "mimic3",
    },
)
