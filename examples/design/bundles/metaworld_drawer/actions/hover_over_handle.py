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
    return not is_open(view)


def run(behind=0.0):
    for _ in range(22):
        view = yield observe()
        if is_open(view):
            return
        h, o = hand(view), handle(view)
        target = [o[0], o[1] + behind, o[2] + 0.12]
        flat = max(abs(target[0] - h[0]), abs(target[1] - h[1]))
        if flat < 0.015 and abs(target[2] - h[2]) < 0.03:
            return
        if h[2] < o[2] + 0.08 and flat > 0.02:
            target = [h[0], h[1], o[2] + 0.12]
        yield towards(view, target)
