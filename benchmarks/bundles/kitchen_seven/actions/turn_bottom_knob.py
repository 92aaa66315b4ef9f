NAME = "bottom_burner"


def can_start(view):
    return not view[NAME + "_done"]


def go(x, y, z, speed=0.04):
    """Straight to a point; once more with a free wrist if that was blocked far from it."""
    outcome = yield move_to(x=x, y=y, z=z, speed=speed)
    if not outcome.get("reached") and (outcome.get("distance") or 0.0) > 0.035:
        outcome = yield move_to(x=x, y=y, z=z, speed=speed, keep_rotation=False)
    return outcome


def run(depth=0.0):
    view = yield observe()
    if view[NAME + "_done"]:
        return
    if view["gripper_closed"] or view["gripper_opening"] < 0.05:
        yield release(steps=1)
    if view["hand_position"][1] > 0.58:
        yield move_by(dy=-0.05)
    for attempt in range(3):
        view = yield observe()
        if view[NAME + "_done"]:
            break
        # fingers on both sides of the bar, square to it
        want = min(1.3, max(0.0, -view[NAME + "_joint"]) + (0.0, 0.3, 0.5)[attempt])
        roll, pitch, yaw = view["hand_rotation"]
        low = -0.75 if attempt == 0 else -0.12
        if abs(roll - want) > 0.17 or pitch < low or pitch > 0.15 or abs(yaw) > 0.25:
            level = pitch if low < pitch < 0.15 else 0.0
            yield point(roll=want, pitch=level, yaw=0.0)
            view = yield observe()
        a = view[NAME + "_axis_point"]
        d = view["hand_direction"]
        # hand_position for tips at the bar, the tips being 0.045 m along d
        x = a[0] - 0.045 * d[0]
        y = 0.660 + depth + 0.006 * attempt - 0.045 * d[1]
        z = a[2] - 0.045 * d[2]
        yield from go(x, y - 0.065, z)
        view = yield observe()
        p = view["hand_position"]
        if abs(x - p[0]) > 0.010 or abs(z - p[2]) > 0.016:
            yield move_by(dx=x - p[0], dy=0.0, dz=z - p[2], speed=0.02)
        yield move_to(x=x, y=y, z=z, speed=0.035)
        yield grasp(steps=3)
        view = yield observe()
        for turn in (0.95, 0.35, 0.35):
            if view[NAME + "_done"]:
                break
            yield rotate(roll=turn)
            now = yield observe()
            gained = view[NAME + "_joint"] - now[NAME + "_joint"]
            view = now
            if gained < 0.05:
                break
        yield release(steps=1)
        yield move_by(dy=-0.055)
