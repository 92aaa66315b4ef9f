FLAG = 0.45
AIM = 0.47        # used by can_start, the default of reach
DEAREST = 0.27    # a climb that needs more force than this costs too much


def height(x):
    return 0.0025 / 3.0 * math.sin(3.0 * x)


def need(x, v, reach):
    energy = 0.5 * v * v + height(x)
    return (height(reach) - energy) / (0.0015 * max(reach - x, 0.005))


def can_start(view):
    x = view["position"]
    v = view["velocity"]
    return v >= 0.0 and x < 0.44 and need(x, v, AIM) <= DEAREST


def run(reach=0.47):
    for i in range(24):
        view = yield observe()
        x = view["position"]
        v = view["velocity"]
        if x >= FLAG or (i > 0 and v <= 0.0):
            return
        force = min(0.4, max(0.0, need(x, v, reach)))
        yield repeat(force=force, steps=4)
