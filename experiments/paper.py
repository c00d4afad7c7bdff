"""The paper's figures that stand beside ours."""

from __future__ import annotations

from experiments.unadjusted import PAPER, Figures

# (data, base model) -> unadjusted test gaps, mean and deviation over ten runs
_COLUMNS = {"linear": "linear", "linear for AUC": "linear-auc", "RankBoost": "rankboost"}
UNADJUSTED = {(data, _COLUMNS[column]): figures for (data, column), figures in PAPER.items()} | {
    ("mimic3-mortality", "linear"): Figures(0.050, 0.012, 0.020, 0.009),
    ("mimic3-mortality", "linear-auc"): Figures(0.072, 0.018, 0.034, 0.012),
    ("mimic3-mortality", "rankboost"): Figures(0.018, 0.011, 0.010, 0.010),
    ("mimic3-long-stay", "linear"): Figures(0.043, 0.008, 0.021, 0.008),
    ("mimic3-long-stay", "linear-auc"): Figures(0.034, 0.012, 0.010, 0.008),
    ("mimic3-long-stay", "rankboost"): Figures(0.025, 0.010, 0.012, 0.007),
    ("eicu-long-stay", "linear"): Figures(0.088, 0.018, 0.029, 0.015),
    ("eicu-long-stay", "linear-auc"): Figures(0.076, 0.017, 0.026, 0.012),
    ("eicu-long-stay", "rankboost"): Figures(0.083, 0.029, 0.032, 0.018),
}

# Its level of the t-test that a mean gap is not 0.
LEVEL = 0.0001

# Seconds of xOrder on a laptop of six cores.
SECONDS = {"compas": 3.27, "adult": 38.67, "framingham": 2.11}

NAMES = {
    "compas": "COMPAS",
    "adult": "Adult",
    "framingham": "Framingham",
    "german": "German",
    "mimic3-mortality": "MIMIC-III, mortality by gender",
    "mimic3-long-stay": "MIMIC-III, long stay by ethnicity",
    "eicu-long-stay": "eICU, long stay by ethnicity",
    "linear": "linear",
    "linear-auc": "linear for AUC",
    "rankboost": "RankBoost",
    "boosting": "gradient boosting",
    "linear-published": "linear, trained as published",
    "linear-auc-published": "linear for AUC, trained as published",
    "rankboost-published": "RankBoost, weighed as published",
    "xauc": "xAUC",
    "prf": "PRF",
    "xorder-dp": "xOrder, dp",
    "xorder-frontier": "xOrder, frontier",
    "fair-ranker": "FairRanker",
}


def name_of(key: str) -> str:
    """Return how readers know a data set, model, method or metric; an own one by its key."""
    return NAMES.get(key, key)
