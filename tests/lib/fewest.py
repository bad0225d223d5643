"""How few keys any cubic curve could do with: a bound that is proved, not a guess.

Of five samples, |sum w v| / sum |w| with w = 1 / product of the differences of their times is the least by which every cubic
misses one of them. Where that is beyond the tolerance, no single segment tells all five, whatever its slopes and the values
of its keys. The bound knows nothing of what a format's keys can say: they may need more."""


def weights(points):
    result = []
    for i in points:
        product = 1.0
        for k in points:
            product *= i - k if i != k else 1
        result.append(1 / product)
    return result


def least_miss(values, points):
    w = weights(points)
    return sum(a * values[p] for a, p in zip(w, points)) / sum(map(abs, w))


def cubic_through(values, points, miss):
    """The cubic that misses those five by just that, one above, the next below."""
    known = [(p, values[p] - (miss if w > 0 else -miss)) for p, w in zip(points[:4], weights(points))]

    def at(x):
        total = 0.0
        for p, v in known:
            for k, _ in known:
                v *= (x - k) / (p - k) if k != p else 1
            total += v
        return total
    return at


def impossible(values, first, last, tolerance):
    """True if five of the samples prove that no cubic tells all of them. The five are sought by exchanging one at a time."""
    if last - first < 4:
        return False
    points = [first + round(i * (last - first) / 4) for i in range(5)]
    for _ in range(30):
        miss = least_miss(values, points)
        if abs(miss) > tolerance:
            return True
        cubic = cubic_through(values, points, miss)
        worst = max(range(first, last + 1), key=lambda i: abs(values[i] - cubic(i)))
        if worst in points:
            return False
        better = max((sorted(points[:i] + [worst] + points[i + 1:]) for i in range(5)), key=lambda p: abs(least_miss(values, p)))
        if abs(least_miss(values, better)) <= abs(miss) * (1 + 1e-12):
            return False
        points = better
    return False


def keys(curves, tolerances):
    """Of curves that share their keys, a value a frame: as few as it takes to tell all frames."""
    count, first, end = 1, 0, len(curves[0])
    while first < end:
        last = first
        while last + 1 < end and not any(impossible(c, first, last + 1, t) for c, t in zip(curves, tolerances)):
            last += 1
        count += 1
        first = last + 1
    return count
