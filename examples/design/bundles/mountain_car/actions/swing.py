BOTTOM = -0.5236
LEFT = -1.16      # leftward swings aim no further than this: the wall at -1.2 destroys energy


def height(x):
    return 0.0025 / 3.0 * math.sin(3.0 * x)


def size_of_force(x, v, d, gain):
    f = min(0.5, max(0.05, gain * abs(v)))
    if d < 0:
        if x <= LEFT:
            return 0.0
        energy = 0.5 * v * v + height(x)
        need = (height(LEFT) - energy) / (0.0015 * max(x - LEFT, 0.005))
        f = min(f, max(0.0, need))
    return f


def run(gain=5.5):
    d = 0.0
    for i in range(24):
        view = yield observe()
        x = view["position"]
        v = view["velocity"]
        if i == 0:
            if v > 0.0003:
                d = 1.0
            elif v < -0.0003:
                d = -1.0
            else:
                d = 1.0 if x < BOTTOM else -1.0
        elif d * v <= 0.0:
            return
        yield repeat(force=d * size_of_force(x, v, d, gain), steps=3)
