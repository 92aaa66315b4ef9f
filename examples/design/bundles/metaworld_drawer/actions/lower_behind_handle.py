def clip(value, low, high):
    return max(low, min(high, value))


def hand(view):
    return [view["hand_x"], view["hand_y"], view["hand_z"]]


def handle(view):
    return [view["object_x"], view["object_y"], view["object_z"]]


def is_open(view, margin=0.02):
    return view["object_y"] <= view["goal_y"] + margin


def towards(view, target, steps=2):
    """A request that moves the hand towards a point."""
    r, a, u = [clip(25.0 * (t - h), -1.0, 1.0) for t, h in zip(target, hand(view))]
    return repeat(right=r, away=a, up=u, close=-1.0, steps=steps)


def can_start(view):
    h, o = hand(view), handle(view)
    near = abs(h[0] - o[0]) < 0.06 and abs(h[1] - o[1]) < 0.06
    return near and h[2] > o[2] + 0.03 and not is_open(view)


def run(behind=0.0):
    last = None
    stuck = 0
    for _ in range(15):
        view = yield observe()
        h, o = hand(view), handle(view)
        if is_open(view) or h[2] - (o[2] - 0.02) < 0.02:
            return
        stuck = stuck + 1 if last is not None and last - h[2] < 0.0015 else 0
        if stuck >= 3:
            yield repeat(up=1.0, close=-1.0, steps=5)
            return
        last = h[2]
        yield towards(view, [o[0], o[1] + behind, o[2] - 0.02])
