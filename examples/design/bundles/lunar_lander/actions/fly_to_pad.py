def clip(value, low, high):
    return max(low, min(high, value))


def choose(s, speed, side):
    x, y, vx, vy, angle, spin = s
    limit = clip(0.12 + 0.8 * y, 0.12, 0.4)
    target = clip(0.5 * x + side * vx, -limit, limit)
    turn = 0.5 * (target - angle) - spin
    lift = 0.5 * speed * (0.55 * abs(x) - y) - 0.5 * vy
    if lift > 0.05 and lift > abs(turn):
        return "main"
    if turn < -0.05:
        return "right"
    if turn > 0.05:
        return "left"
    return "nothing"


def predict(s, action):
    """The state one step later, by the documented table."""
    x, y, vx, vy, angle, spin = s
    vy -= 0.027
    if action == "main":
        vx -= 0.0705 * math.sin(angle)
        vy += 0.047 * math.cos(angle)
    elif action == "left":
        vx -= 0.010
        spin += 0.038
    elif action == "right":
        vx += 0.010
        spin -= 0.041
    return (x + 0.01 * vx, y + 0.0225 * vy, vx, vy, angle + 0.05 * spin, spin)


def state(view):
    return tuple(view[k] for k in ("x", "y", "vx", "vy", "angle", "spin"))


def landed(view):
    return view["left_leg"] > 0.5 or view["right_leg"] > 0.5


def can_start(view):
    return not (view["left_leg"] > 0.5 and view["right_leg"] > 0.5)


def run(speed=1.0, side=1.0):
    for i in range(24):
        view = yield observe()
        if landed(view) and (i > 0 or (view["left_leg"] > 0.5 and view["right_leg"] > 0.5)):
            return
        now = state(view)
        first = choose(now, speed, side)
        second = choose(predict(now, first), speed, side)
        yield [act(action=first), act(action=second)]
