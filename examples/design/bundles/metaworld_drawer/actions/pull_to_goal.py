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
    return abs(h[0] - o[0]) < 0.06 and abs(h[2] - o[2]) < 0.05


def run():
    for i in range(22):
        view = yield observe()
        h, o = hand(view), handle(view)
        if is_open(view, 0.005):
            if i == 0:
                yield repeat(close=-1.0, steps=5)
            return
        if h[1] < o[1] - 0.09:
            return
        right = clip(25.0 * (o[0] - h[0]), -1.0, 1.0)
        up = clip(25.0 * (o[2] - 0.02 - h[2]), -1.0, 1.0)
        away = clip(25.0 * (view["goal_y"] - o[1]), -1.0, -0.15)
        yield repeat(right=right, away=away, up=up, close=-1.0, steps=2)
