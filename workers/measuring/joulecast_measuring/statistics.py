"""Statistics of blocks of calls: the same rules as joulecast/units/statistics.cpp and joulecast/measure/stopping_rule.cpp."""
import functools
import math

# A half width beyond this share of the mean makes an outcome `unstable`.
UNSTABLE_HALF_WIDTH = 0.1


def mean(samples):
    return math.fsum(samples) / len(samples)


def quantile(samples, share):
    ordered = sorted(samples)
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def median(samples):
    return quantile(samples, 0.5)


def standard_deviation(samples):
    centre = mean(samples)
    return math.sqrt(math.fsum((sample - centre) ** 2 for sample in samples) / (len(samples) - 1))


def effective_samples(samples):
    """How many independent samples tell as much: n / (1 + 2 sum of the initial positive autocorrelations)."""
    count = len(samples)
    if count < 3:
        return float(count)
    centre = mean(samples)
    deviations = [sample - centre for sample in samples]
    variance = math.fsum(d * d for d in deviations)
    if not variance > 0.0:
        return float(count)
    correlations = 0.0
    for lag in range(1, count // 2 + 1):
        product = math.fsum(a * b for a, b in zip(deviations[lag:], deviations))
        if not product > 0.0:
            break
        correlations += product / variance
    return min(max(count / (1.0 + 2.0 * correlations), 1.0), float(count))


def _beta_fraction(a, b, x):
    """Continued fraction of the incomplete beta function by Lentz's method (Numerical Recipes 6.4)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    result = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            result *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return result


def _incomplete_beta(a, b, x):
    if x <= 0.0 or x >= 1.0:
        return min(max(x, 0.0), 1.0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, 1.0 - x) / b


@functools.lru_cache(maxsize=4096)
def student_t_quantile(share, degrees):
    """The t that a Student t variable of so many degrees of freedom stays below with that probability; share above one half."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        # P(|T| > t) is the incomplete beta function at degrees / (degrees + t^2).
        if _incomplete_beta(degrees / 2.0, 0.5, middle) < 2.0 * (1.0 - share):
            low = middle
        else:
            high = middle
    x = (low + high) / 2.0
    return math.sqrt(degrees * (1.0 - x) / x)


def leading_transient(blocks):
    """How many first blocks lie further than twice the median deviation from the median of the last half."""
    half = len(blocks) // 2
    if half == 0:
        return 0
    tail = blocks[len(blocks) - half:]
    centre = median(tail)
    spread = median([abs(block - centre) for block in tail])
    dropped = 0
    while dropped < half and abs(blocks[dropped] - centre) > 2.0 * spread:
        dropped += 1
    return dropped


def summarise(blocks):
    """`time` of docs/worker-protocol.md out of seconds per call of each block; nothing is dropped but a leading transient."""
    dropped = leading_transient(blocks)
    kept = blocks[dropped:]
    summary = {"mean_s": mean(kept), "median_s": median(kept), "p05_s": quantile(kept, 0.05), "p95_s": quantile(kept, 0.95),
               "half_width_s": math.nan, "blocks": len(kept), "dropped_blocks": dropped, "effective_blocks": 0.0,
               "calls_per_block": 0, "converged": False}
    if len(kept) >= 2:
        # At least two, or a strongly correlated series would leave no degree of freedom to judge it by.
        effective = max(2.0, effective_samples(kept))
        summary["effective_blocks"] = effective
        summary["half_width_s"] = student_t_quantile(0.975, effective - 1.0) * standard_deviation(kept) / math.sqrt(effective)
    return summary


def settled(summary, relative_half_width):
    return summary["half_width_s"] <= relative_half_width * summary["mean_s"]
