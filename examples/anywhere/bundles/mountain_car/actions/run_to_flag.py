BOTTOM = -math.pi / 6


def clip(value, low, high):
    return max(low, min(high, value))


def step(x, v, force):
    """One step of the documented dynamics."""
    v = clip(v + 0.0015 * force - 0.0025 * math.cos(3 * x), -0.07, 0.07)
    x = clip(x + v, -1.2, 0.6)
    if x <= -1.2 and v < 0:
        v = 0.0
    return x, v


TOP_GAIN = 20.0


def reaches(x, v, gain):
    """Whether the flag is reached in this move to the right."""
    if v < -0.001 or (v <= 0 and x > BOTTOM):
        return False
    for i in range(120):
        x, v = step(x, v, clip(gain * v, -1.0, 1.0))
        if x >= 0.4505:
            return True
        if v <= 0 and i > 3:
            return False
    return False


def smallest_gain(x, v):
    if not reaches(x, v, TOP_GAIN):
        return None
    low, high = 0.0, TOP_GAIN
    for _ in range(12):
        middle = 0.5 * (low + high)
        if reaches(x, v, middle):
            high = middle
        else:
            low = middle
    return high


def can_start(view):
    return view["position"] < 0.45 and reaches(view["position"], view["velocity"], TOP_GAIN)


def run():
    for _ in range(11):
        view = yield observe()
        x, v = view["position"], view["velocity"]
        gain = smallest_gain(x, v)
        if x >= 0.45 or gain is None:
            return
        gain = 1.03 * gain + 0.1
        forces = []
        for _ in range(12):
            force = clip(gain * v, -1.0, 1.0)
            forces.append(force)
            x, v = step(x, v, force)
            if x >= 0.455:
                break
        yield [act(force=f) for f in forces]
