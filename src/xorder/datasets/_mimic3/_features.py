"""The 714 features of a stay: 17 clinical variables, seven windows and six statistics of each.

Which items of MIMIC-III a variable is charted under, how they are read and what is plausible are facts of the benchmark
of Harutyunyan et al. (Scientific Data 6, 96, 2019; ``mimic3-benchmarks``, MIT): its map of item ids, its unit
conversions, the numbers it gives to charted words, and its ranges. MIMIC-III has two charting systems, CareVue and
MetaVision (ids from 220000 on); ids from 50800 to 51491 are laboratory results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable.

    Attributes
    ----------
    name : how its columns start in the cohort file
    unit : after conversion
    items : the item ids it is charted or measured under
    reading : how its text becomes a number; a name in :data:`xorder.datasets._mimic3._build.READINGS`
    outlier : values outside are taken for errors, where ranges are applied
    valid : values outside, but within ``outlier``, are moved to the nearer end, where ranges are applied
    words : the numbers of charted words, for variables that are charted in words
    by_text : of several values at one time the benchmark keeps the last by text, not by number
    """

    name: str
    unit: str
    items: tuple[int, ...]
    reading: str
    outlier: tuple[float, float]
    valid: tuple[float, float]
    words: Mapping[str, float] = field(default_factory=dict)
    by_text: bool = False


_EYES = {
    **{"None": 0, "1 No Response": 1, "2 To pain": 2, "To Pain": 2, "3 To speech": 3, "To Speech": 3},
    **{"4 Spontaneously": 4, "Spontaneously": 4},
}
_MOTOR = {
    **{"1 No Response": 1, "No response": 1, "2 Abnorm extensn": 2, "Abnormal extension": 2, "3 Abnorm flexion": 3},
    **{"Abnormal Flexion": 3, "4 Flex-withdraws": 4, "Flex-withdraws": 4, "5 Localizes Pain": 5, "Localizes Pain": 5},
    **{"6 Obeys Commands": 6, "Obeys Commands": 6},
}
_VERBAL = {
    **{"1.0 ET/Trach": 1, "1 No Response": 1, "No Response": 1, "No Response-ETT": 1, "2 Incomp sounds": 2},
    **{"Incomprehensible sounds": 2, "3 Inapprop words": 3, "Inappropriate Words": 3, "4 Confused": 4, "Confused": 4},
    **{"5 Oriented": 5, "Oriented": 5},
}
_REFILL = {"Brisk": 0, "Normal <3 secs": 0, "Delayed": 1, "Abnormal >3 secs": 1}

_DIASTOLIC = (8368, 8440, 8441, 8502, 8503, 8504, 8506, 8507, 8555, 220051, 220180, 224643, 225310)
_SYSTOLIC = (51, 442, 455, 3313, 3315, 3317, 3321, 3323, 6701, 220050, 220179, 224167, 225309, 227243)
_MEAN_PRESSURE = (52, 224, 456, 3312, 3314, 3316, 3320, 3322, 6702, 220052, 220181, 224322, 225312)
_GLUCOSE = (807, 811, 1529, 3745, 50809, 50931, 51478, 220621, 225664, 226537)
_SATURATION = (646, 834, 8498, 50817, 220227, 220277)
_BREATHS = (614, 615, 618, 651, 3603, 220210, 224422, 224689, 224690)
_TEMPERATURE = (676, 677, 678, 679, 3654, 3655, 223761, 223762)
_WEIGHT = (763, 3580, 3581, 3582, 3693, 224639, 226512, 226531)
_PH = (780, 860, 1126, 1673, 3839, 4202, 4753, 50820, 50831, 51094, 51491, 220274, 223830)

# The benchmark's order, in which capital letters come first: pH is the last of its columns.
VARIABLES = (
    Variable("capillary_refill", "0 brisk, 1 delayed", (115, 3348, 8377), "words", (0, 1), (0, 1), _REFILL),
    Variable("diastolic_pressure", "mmHg", _DIASTOLIC, "second of pair", (0, 375), (0, 375)),
    Variable("fio2", "fraction", (189, 727, 3420, 3422, 223835), "fraction", (0.2, 1.1), (0.21, 1)),
    Variable("gcs_eyes", "points", (184, 220739), "words", (1, 4), (1, 4), _EYES, by_text=True),
    Variable("gcs_motor", "points", (454, 223901), "words", (1, 6), (1, 6), _MOTOR, by_text=True),
    Variable("gcs_total", "points", (198,), "coma scale", (3, 15), (3, 15), by_text=True),
    Variable("gcs_verbal", "points", (723, 223900), "words", (1, 5), (1, 5), _VERBAL, by_text=True),
    Variable("glucose", "mg/dL", _GLUCOSE, "laboratory", (0, 2200), (33, 2000)),
    Variable("heart_rate", "beats/min", (211, 220045), "number", (0, 390), (0, 350), by_text=True),
    Variable("height", "cm", (1394, 226707, 226730), "height", (0, 275), (0, 240)),
    Variable("mean_pressure", "mmHg", _MEAN_PRESSURE, "number", (0, 375), (14, 330), by_text=True),
    Variable("oxygen_saturation", "%", _SATURATION, "saturation", (0, 150), (0, 100)),
    Variable("respiratory_rate", "breaths/min", _BREATHS, "number", (0, 330), (0, 300), by_text=True),
    Variable("systolic_pressure", "mmHg", _SYSTOLIC, "first of pair", (0, 375), (0, 375)),
    Variable("temperature", "degrees Celsius", _TEMPERATURE, "temperature", (14.2, 47), (26, 45)),
    Variable("weight", "kg", _WEIGHT, "weight", (0, 250), (0, 250)),
    Variable("ph", "", _PH, "laboratory", (6.3, 10), (6.3, 8.4)),
)

WINDOWS = {
    **{"all": (0, 100), "first 10%": (0, 10), "first 25%": (0, 25), "first 50%": (0, 50)},
    **{"last 10%": (90, 100), "last 25%": (75, 100), "last 50%": (50, 100)},
}
"""Shares, in per cent, of the time between the first and the last reading of the variable in the stay's 48 hours."""

STATISTICS = ("min", "max", "mean", "std", "skew", "count")
FEATURES = tuple(f"{v.name}|{window}|{statistic}" for v in VARIABLES for window in WINDOWS for statistic in STATISTICS)


def window_features(
    stays: int, stay: IntArray, variable: IntArray, second: IntArray, number: FloatArray
) -> NDArray[np.float32]:
    """Return the features of stays 0, 1, ..., one row each, from readings sorted by stay, variable and time.

    A variable that was never read has NaN in all its features, the count too, as in the benchmark. Readings at the
    very ends of a window belong to it. The deviation divides by n; the skewness is the third central moment over the
    second to the power 3/2, and 0 where all readings are equal.
    """
    features = np.full((stays, len(VARIABLES), len(WINDOWS), len(STATISTICS)), np.nan, dtype=np.float32)
    if len(number) == 0:
        return features.reshape(stays, len(FEATURES))
    series = np.concatenate([[True], (np.diff(stay) != 0) | (np.diff(variable) != 0)])
    start = np.flatnonzero(series)
    size = np.diff(np.append(start, len(number)))
    row, column = stay[start], variable[start]
    # Whole seconds and whole per cent: no reading falls on the wrong side of an end by rounding.
    elapsed = 100 * (second - np.repeat(second[start], size))
    duration = np.repeat(second[start + size - 1] - second[start], size)
    for window, (begin, end) in enumerate(WINDOWS.values()):
        inside = (elapsed >= begin * duration) & (elapsed <= end * duration)
        counts = np.add.reduceat(inside, start, dtype=np.int64)
        for which, values in enumerate(_statistics(number[inside], counts)):
            features[row, column, window, which] = values
    return features.reshape(stays, len(FEATURES))


def _statistics(number: FloatArray, counts: IntArray) -> Iterator[FloatArray]:
    """Yield the statistics of consecutive pieces of ``number``, none of them empty."""
    start = np.cumsum(counts) - counts
    mean = np.add.reduceat(number, start) / counts
    deviation = number - np.repeat(mean, counts)
    second = np.add.reduceat(deviation**2, start) / counts
    third = np.add.reduceat(deviation**3, start) / counts
    # Equal readings may leave a deviation of rounding errors only.
    flat = second <= (np.finfo(np.float64).resolution * mean) ** 2
    yield np.minimum.reduceat(number, start)
    yield np.maximum.reduceat(number, start)
    yield mean
    yield np.sqrt(second)
    yield np.where(flat, 0.0, third / np.where(flat, 1.0, second) ** 1.5)
    yield counts.astype(np.float64)
