"""Data to try things on: a simulated population, four open sets, and cohorts of one's own copy of MIMIC-III or eICU."""

from xorder._lazy import lazy_names
from xorder.datasets._simulate import Population, simulate_population

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
        "Problem": "_problem",
        "Split": "_problem",
        "build_eicu": "_eicu",
        "build_mimic3": "_mimic3",
        "impute_mean": "_impute",
        "load_adult": "_adult",
        "load_compas": "_compas",
        "load_eicu": "_eicu",
        "load_framingham": "_framingham",
        "load_german": "_german",
        "load_mimic3": "_mimic3",
    },
)
