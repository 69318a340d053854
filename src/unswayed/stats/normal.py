"""Normal CDF and quantile, vectorised: numpy has neither, and scipy is no dependency."""

from __future__ import annotations

import numpy as np

from unswayed.stats.statistics import Array

# Coefficients of the complementary error function's Chebyshev fit (Numerical Recipes, erfcc), lowest power first.
_TAIL = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
         -0.82215223, 0.17087277)  # fmt: skip
# Numerators and denominators of AS 241 (PPND7): around the middle, in the tails, and far out in them.
_NEAR = ((3.3871327179, 50.434271938, 159.29113202, 59.109374720), (1.0, 17.895169469, 78.757757664, 67.187563600))
_FAR = ((1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103), (1.0, 0.73700164250, 0.12021132975))
_FARTHEST = ((6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997), (1.0, 0.24197894225, 0.012258202635))


def normal_cdf(x: Array) -> Array:
    """The share of a standard normal below each number, by a Chebyshev fit: the lower tail's relative error is 2e-7."""
    far = np.abs(x) * np.sqrt(0.5)
    t = 1 / (1 + far / 2)
    tail: Array = t * np.exp(-(far**2) + _polynomial(t, _TAIL)) / 2
    return np.where(x < 0, tail, 1 - tail)


def normal_quantile(share: Array) -> Array:
    """The number below which this share of a standard normal lies, to 3e-6: Wichura's algorithm AS 241."""
    centred = share - 0.5
    r = 0.180625 - centred**2
    near = centred * _polynomial(r, _NEAR[0]) / _polynomial(r, _NEAR[1])
    far = np.sqrt(-np.log(np.clip(np.minimum(share, 1 - share), 1e-300, 0.5)))
    a, b = far - 1.6, far - 5
    tail = np.where(far <= 5, _polynomial(a, _FAR[0]) / _polynomial(a, _FAR[1]),
                    _polynomial(b, _FARTHEST[0]) / _polynomial(b, _FARTHEST[1]))  # fmt: skip
    return np.where(np.abs(centred) <= 0.425, near, np.copysign(tail, centred))


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    total: Array = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total
