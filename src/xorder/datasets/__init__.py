"""Data to try things on: a simulated population, four open sets, and cohorts of one's own copy of MIMIC-III or eICU."""

from xorder.datasets._cohort_file import impute_mean
from xorder.datasets._eicu import build_eicu, load_eicu
from xorder.datasets._mimic3 import build_mimic3, load_mimic3
from xorder.datasets._open_set import load_adult, load_compas, load_framingham, load_german
from xorder.datasets._problem import Problem, Split
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
